import { AppError } from '../../errors.ts'
import { untilAborted } from '../../lib/until-aborted.ts'
import type { ModelToolCall } from '../../models/chat-model.ts'
import type { Tool, ToolContext } from './define-tool.ts'
import { ToolFailure, ToolInputError } from './tool-error.ts'

/** UTF-16 code units of a result that the model is shown. */
const MAXIMUM_OUTPUT = 60_000

export interface ToolResult {
  output: string
  isError: boolean
}

interface CallOptions {
  context: ToolContext
  /** Where the tool has none of its own. */
  deadlineMilliseconds: number
  log: { error(fields: object, message: string): void }
}

/** Never throws for what the tool or the model did wrong: that is a result. Throws what `signal` was aborted with. */
export async function callTool(
  tool: Tool,
  { arguments: text }: ModelToolCall,
  { context, log, ...limits }: CallOptions,
  signal: AbortSignal,
): Promise<ToolResult> {
  const input = parseInput(text)
  if (input.error) return failed(input.error)

  const milliseconds = tool.deadlineMilliseconds ?? limits.deadlineMilliseconds
  const deadline = AbortSignal.timeout(milliseconds)
  const either = AbortSignal.any([signal, deadline])
  try {
    const output = await untilAborted(tool.run(input.value, context, either), either)
    return { output: bounded(output), isError: false }
  } catch (error) {
    signal.throwIfAborted()
    if (deadline.aborted) return failed(`The tool did not answer in ${milliseconds} ms`)
    const told = explain(error)
    if (told) return failed(told)
    log.error({ err: error, tool: tool.name }, 'tool failed')
    return failed('The tool failed for a reason that is in the log of the server')
  }
}

/** What the model is told of a call that did not happen or failed. */
export function failed(message: string): ToolResult {
  return { output: bounded(message), isError: true }
}

export interface ParsedInput {
  /** The JSON, or the text as it came where it is broken. */
  value: unknown
  error?: string
}

export function parseInput(text: string): ParsedInput {
  if (text.trim() === '') return { value: {} }
  try {
    return { value: JSON.parse(text) }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return { value: text, error: `The arguments are not valid JSON: ${reason}` }
  }
}

/** What the model may know of a failure; nothing where nobody foresaw it. */
function explain(error: unknown): string | undefined {
  if (error instanceof ToolInputError) return `Invalid arguments: ${error.message}`
  if (error instanceof AppError || error instanceof ToolFailure) {
    return `The tool failed: ${error.message}`
  }
  return undefined
}

/** A lone surrogate, from the tool or from the cut, would make JSON that some servers refuse. */
function bounded(output: string): string {
  const shown = output.slice(0, MAXIMUM_OUTPUT).toWellFormed()
  const rest = output.length - MAXIMUM_OUTPUT
  return rest > 0 ? `${shown}\n[cut: ${rest} more characters]` : shown
}
