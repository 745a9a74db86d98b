import { startDeadline, untilAborted } from '@agent-server/lib/abort.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import type { Log } from '@agent-server/lib/log.ts'
import { Refusal } from '@agent-server/lib/refusal.ts'
import { messageOf } from '@agent-server/lib/system-error.ts'
import type { ModelToolCall } from '@agent-server/models'
import type { ToolRecord } from '@agent-server/schemas/agent.ts'
import { type Tool, type ToolContext, ToolInputError } from './define-tool.ts'
import { createDiscovery } from './discover-tools.ts'
import { type AnsweredCall, ElicitationRequired, type Elicited } from './elicitation.ts'
import { type ShownImage, toShownImage } from './shown-images.ts'

const DEADLINE_MS = 60_000
const BUILT_IN = 'builtin'

interface Dependencies {
  /**
   * Called again for each run, since the tools of a connection may change. If two tools have the same name, a built-in
   * one wins, otherwise the first one.
   */
  sources: readonly ((account?: string) => readonly Tool[])[]
  /** Has the tools of somebody's own accounts ready. */
  prepare?: ((account: string, signal: AbortSignal) => Promise<void>) | undefined
  /** Whether the agent configuration enables a tool. */
  isEnabled: (name: string) => boolean
  log: Pick<Log, 'info' | 'warn' | 'error'>
  /** Deadline for each call of a tool without its own. */
  deadlineMs?: number
}

/** The tools of an agent, whatever their source. */
export class ToolRegistry {
  readonly #dependencies: Dependencies

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
  }

  /** Every loaded tool, with its state. */
  records(modelCallsTools: boolean): ToolRecord[] {
    return this.#load().map((loaded) => toRecord(loaded, modelCallsTools))
  }

  /** The tools that fit into `tokens`, and the names of the enabled ones that do not. */
  offering(tokens: number): { offered: readonly Tool[]; leftOut: string[] } {
    const on = this.#on()
    const offered = createDiscovery(on).offered(tokens)
    const leftOut = on.filter((tool) => !offered.includes(tool)).map(({ name }) => name)
    return { offered, leftOut }
  }

  /** To be called before `open`, for who uses accounts of their own. */
  async prepare(account: string | undefined, signal: AbortSignal): Promise<void> {
    if (account !== undefined) await this.#dependencies.prepare?.(account, signal)
  }

  /** The tools of one run, which do not change during the run. */
  open(context: ToolContext): RunTools {
    return new RunTools(this.#on(context.account), context, this.#dependencies)
  }

  #load(account?: string): LoadedTool[] {
    const { sources, isEnabled } = this.#dependencies
    return withStates(
      sources.flatMap((source) => source(account)),
      isEnabled,
    )
  }

  #on(account?: string): Tool[] {
    return this.#load(account).flatMap(({ tool, state }) => (state === 'on' ? [tool] : []))
  }
}

export class RunTools {
  /** The tools offered to the model, which fit into `tokens`. */
  readonly offered: ReturnType<typeof createDiscovery>['offered']
  readonly #byName: ReadonlyMap<string, Tool>
  readonly #context: ToolContext
  readonly #dependencies: Dependencies

  constructor(on: readonly Tool[], context: ToolContext, dependencies: Dependencies) {
    const { offered, search } = createDiscovery(on)
    this.offered = offered
    this.#byName = new Map([search, ...on].map((tool) => [tool.name, tool]))
    this.#context = context
    this.#dependencies = dependencies
  }

  /** Whether a call must wait for the client's approval. */
  needsApproval(name: string): boolean {
    return this.#byName.get(name)?.approval === 'always'
  }

  /** Errors of the tool or the model are returned as a result. Throws only the abort reason of `signal`. */
  async call(call: RunningCall, signal: AbortSignal): Promise<ToolResult> {
    const started = performance.now()
    let isError = true
    try {
      const result = await this.#answer(call, signal)
      isError = result.isError
      return result
    } finally {
      const milliseconds = Math.round(performance.now() - started)
      this.#dependencies.log.info({ tool: call.name, milliseconds, isError }, 'tool call')
    }
  }

  async #answer(call: RunningCall, signal: AbortSignal): Promise<ToolResult> {
    const { name, mistake } = call
    const tool = this.#byName.get(name)
    if (!tool) return failedResult(`There is no tool "${name}"`)
    return mistake === undefined ? this.#run(tool, call, signal) : failedResult(mistake)
  }

  async #run(
    tool: Tool,
    { input, answered, progressed }: RunningCall,
    signal: AbortSignal,
  ): Promise<ToolResult> {
    const { log, deadlineMs = DEADLINE_MS } = this.#dependencies
    const milliseconds = tool.deadlineMs ?? deadlineMs
    using deadline = startDeadline(milliseconds, signal)
    try {
      const images: ShownImage[] = []
      const showImage = (bytes: Uint8Array) => {
        const image = toShownImage(bytes)
        if (image) images.push(image)
      }
      const context = {
        ...this.#context,
        showImage,
        ...(answered && { answered }),
        ...(progressed && { progressed }),
      }
      const output = await untilAborted(tool.run(input, context, deadline.signal), deadline.signal)
      return { output: bounded(output), isError: false, ...(images.length > 0 && { images }) }
    } catch (error) {
      signal.throwIfAborted()
      if (deadline.isOver) return failedResult(`The tool did not answer in ${milliseconds} ms`)
      return toResult(error, tool, log)
    }
  }
}

interface LoadedTool {
  tool: Tool
  state: ToolRecord['state']
  reason?: string
}

/** Determines the state of each tool; built-in tools come first. */
function withStates(tools: readonly Tool[], isEnabled: (name: string) => boolean): LoadedTool[] {
  const isBuiltIn = ({ source }: Tool) => source === BUILT_IN
  const ordered = [...tools.filter(isBuiltIn), ...tools.filter((tool) => !isBuiltIn(tool))]
  const byName = new Map<string, Tool>()
  return ordered.map((tool) => {
    const holder = byName.get(tool.name)
    if (holder) {
      const reason = `The name is taken by a tool of ${holder.source}`
      return { tool, state: 'unavailable', reason }
    }
    byName.set(tool.name, tool)
    if (!isEnabled(tool.name)) return { tool, state: 'off' }
    const reason = tool.unavailable?.()
    return reason === undefined ? { tool, state: 'on' } : { tool, state: 'unavailable', reason }
  })
}

function toRecord({ tool, state, reason }: LoadedTool, modelCallsTools: boolean): ToolRecord {
  const { name, title, description, inputSchema, source } = tool
  const switchName = tool.switch !== undefined && { switch: tool.switch }
  const approval = tool.approval === 'always' && { approval: tool.approval }
  const record = { name, title, description, inputSchema, source, ...switchName, ...approval }
  if (state === 'on' && !modelCallsTools) {
    return { ...record, state: 'unavailable', reason: 'The chat model does not call tools' }
  }
  return { ...record, state, ...(reason !== undefined && { reason }) }
}

/** Maximum UTF-16 code units of a result that the model sees. */
const MAX_OUTPUT = 60_000

export interface ToolResult {
  output: string
  isError: boolean
  /** What the model is shown besides, if it sees. */
  images?: readonly ShownImage[] | undefined
  /** The call is not done: its server asks this first, in the words of `output`. */
  elicited?: Elicited | undefined
}

/** The result of a call that was not made or failed. */
export function failedResult(message: string): ToolResult {
  return { output: bounded(message), isError: true }
}

/** A model's tool call with parsed arguments. */
export interface ToolCall extends Pick<ModelToolCall, 'callId' | 'name'> {
  /** The parsed arguments, or their text if that is not valid JSON. */
  input: unknown
  /** Why the text is not valid JSON. */
  mistake?: string
  /** Set if the call was started before a pause, in which the user answered its server. */
  answered?: AnsweredCall | undefined
  /** If the call was done before a pause. */
  result?: ToolResult | undefined
}

/** A call, and who is told of its progress. */
type RunningCall = ToolCall & Pick<ToolContext, 'progressed'>

/** Parses the arguments of a call; empty arguments count as `{}`. Does not throw: see `mistake`. */
export function parseCall({ callId, name, arguments: text }: ModelToolCall): ToolCall {
  if (text.trim() === '') return { callId, name, input: {} }
  try {
    return { callId, name, input: JSON.parse(text) }
  } catch (error) {
    const reason = messageOf(error)
    return { callId, name, input: text, mistake: `The arguments are not valid JSON: ${reason}` }
  }
}

/** What a tool that threw asks, or its failure. */
function toResult(error: unknown, tool: Tool, log: Dependencies['log']): ToolResult {
  if (!(error instanceof ElicitationRequired)) return failedResult(explain(error, tool, log))
  return { output: bounded(error.message), isError: false, elicited: error.elicited }
}

/** The message about a failure for the model; further details are logged. */
function explain(error: unknown, { name: tool }: Tool, log: Dependencies['log']): string {
  if (error instanceof ToolInputError) return `Invalid arguments: ${error.message}`
  if (error instanceof Refusal || error instanceof AppError) {
    const { message, cause } = error
    if (cause !== undefined) log.warn({ err: cause, tool }, `tool failed: ${message}`)
    return `The tool failed: ${message}`
  }
  log.error({ err: error, tool }, 'tool failed')
  return 'The tool failed; see the server log'
}

/** Cuts a long output, and replaces lone surrogates, which would result in JSON that some servers reject. */
function bounded(output: string): string {
  const text = output.slice(0, MAX_OUTPUT).toWellFormed()
  const rest = output.length - MAX_OUTPUT
  return rest > 0 ? `${text}\n[cut: ${rest} more characters]` : text
}
