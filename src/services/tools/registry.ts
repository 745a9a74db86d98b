import { AppError } from '../../errors.ts'
import { untilAborted } from '../../lib/until-aborted.ts'
import type { ModelToolCall } from '../../models/chat-model.ts'
import type { ToolRecord } from '../../schemas/agent.ts'
import { type Tool, type ToolContext, ToolInputError } from './define-tool.ts'

/** UTF-16 code units of a result that the model is shown. */
const MAXIMUM_OUTPUT = 60_000
const DEADLINE_MILLISECONDS = 60_000

export interface ToolResult {
  output: string
  isError: boolean
}

interface AuditLog {
  info(fields: object, message: string): void
  error(fields: object, message: string): void
}

interface Dependencies {
  tools: readonly Tool[]
  /** Whether the agent configuration switches a tool on. */
  isEnabled: (name: string) => boolean
  log: AuditLog
  /** For each call. */
  deadlineMilliseconds?: number
}

export interface ToolRegistry {
  /** What the model may call. */
  offered(): readonly Tool[]
  /** Every loaded tool, with its state. */
  records(modelCallsTools: boolean): ToolRecord[]
  /** Arguments as JSON, or as the text they came in where that is broken. */
  readInput(text: string): unknown
  /** Never throws for what the tool or the model did wrong: that is a result. Throws what `signal` was aborted with. */
  call(call: ModelToolCall, context: ToolContext, signal: AbortSignal): Promise<ToolResult>
}

export function createToolRegistry({
  tools,
  isEnabled,
  log,
  deadlineMilliseconds = DEADLINE_MILLISECONDS,
}: Dependencies): ToolRegistry {
  const enabled = tools.filter(({ name }) => isEnabled(name))
  const byName = new Map(enabled.map((tool) => [tool.name, tool]))

  async function answer(
    { name, arguments: text }: ModelToolCall,
    context: ToolContext,
    signal: AbortSignal,
  ): Promise<ToolResult> {
    const tool = byName.get(name)
    const input = parse(text)
    if (!tool) return failed(`There is no tool "${name}"`)
    if (input.error) return failed(input.error)

    const deadline = AbortSignal.timeout(deadlineMilliseconds)
    const either = AbortSignal.any([signal, deadline])
    try {
      const output = await untilAborted(tool.run(input.value, context, either), either)
      return { output: bounded(output), isError: false }
    } catch (error) {
      signal.throwIfAborted()
      if (deadline.aborted) return failed(`The tool did not answer in ${deadlineMilliseconds} ms`)
      const told = explain(error)
      if (told) return failed(told)
      log.error({ err: error, tool: name }, 'tool failed')
      return failed('The tool failed for a reason that is in the log of the server')
    }
  }

  return {
    offered: () => enabled,
    readInput: (text) => parse(text).value,
    records: (modelCallsTools) =>
      tools.map(({ name, title, description, inputSchema, source }) => ({
        ...{ name, title, description, inputSchema, source },
        ...stateOf(byName.has(name), modelCallsTools),
      })),
    async call(call, context, signal) {
      const started = performance.now()
      let isError = true
      try {
        const result = await answer(call, context, signal)
        isError = result.isError
        return result
      } finally {
        const milliseconds = Math.round(performance.now() - started)
        log.info({ tool: call.name, milliseconds, isError }, 'tool call')
      }
    },
  }
}

function stateOf(enabled: boolean, modelCallsTools: boolean): Pick<ToolRecord, 'state' | 'reason'> {
  if (!enabled) return { state: 'off' }
  if (modelCallsTools) return { state: 'on' }
  return { state: 'unavailable', reason: 'The chat model does not call tools' }
}

type ParsedInput = { value: unknown; error?: string }

function parse(text: string): ParsedInput {
  if (text.trim() === '') return { value: {} }
  try {
    return { value: JSON.parse(text) }
  } catch (error) {
    return { value: text, error: `The arguments are not valid JSON: ${messageOf(error)}` }
  }
}

/** What the model may know of a failure; nothing where nobody foresaw it. */
function explain(error: unknown): string | undefined {
  if (error instanceof ToolInputError) return `Invalid arguments: ${error.message}`
  if (error instanceof AppError) return `The tool failed: ${error.message}`
  return undefined
}

const failed = (message: string) => ({ output: bounded(message), isError: true })

/** A lone surrogate, from the tool or from the cut, would make JSON that some servers refuse. */
function bounded(output: string): string {
  const shown = output.slice(0, MAXIMUM_OUTPUT).toWellFormed()
  const rest = output.length - MAXIMUM_OUTPUT
  return rest > 0 ? `${shown}\n[cut: ${rest} more characters]` : shown
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))
