import type { ModelToolCall } from '../../models/chat-model.ts'
import type { ToolRecord } from '../../schemas/agent.ts'
import { callTool, failed, parseInput, type ToolResult } from './call-tool.ts'
import type { Tool, ToolContext } from './define-tool.ts'
import { createDiscovery } from './discover-tools.ts'

const DEADLINE_MILLISECONDS = 60_000
const BUILT_IN = 'builtin'

/** Asked anew for each run, since the tools of a connection may come and go. */
export type ToolSource = () => readonly Tool[]

interface AuditLog {
  info(fields: object, message: string): void
  error(fields: object, message: string): void
}

interface Dependencies {
  /** Where two sources have a tool of one name, a built-in one wins, then the one that comes first. */
  sources: readonly ToolSource[]
  /** Whether the agent configuration switches a tool on. */
  isEnabled: (name: string) => boolean
  /** Why a tool may not be called at this point of a run. */
  refuse?: (tool: Tool, context: ToolContext, offered: readonly Tool[]) => string | undefined
  log: AuditLog
  /** For each call of a tool that has no deadline of its own. */
  deadlineMilliseconds?: number
}

export interface ToolRegistry {
  /** Every loaded tool, with its state. */
  records(modelCallsTools: boolean): ToolRecord[]
  /** The tools of one run, which stay the same while it lasts. */
  open(context: ToolContext): RunTools
}

export interface RunTools {
  /** What the model may call. */
  offered(): readonly Tool[]
  /** Arguments as JSON, or as the text they came in where that is broken. */
  readInput(text: string): unknown
  /** Never throws for what the tool or the model did wrong: that is a result. Throws what `signal` was aborted with. */
  call(call: ModelToolCall, signal: AbortSignal): Promise<ToolResult>
}

export function createToolRegistry({
  sources,
  isEnabled,
  refuse,
  log,
  deadlineMilliseconds = DEADLINE_MILLISECONDS,
}: Dependencies): ToolRegistry {
  const load = () =>
    judge(
      sources.flatMap((source) => source()),
      isEnabled,
    )

  return {
    records: (modelCallsTools) => load().map((judged) => toRecord(judged, modelCallsTools)),
    open(context) {
      const on = load().filter(({ state }) => state === 'on')
      const discovery = createDiscovery(on.map(({ tool }) => tool))
      const { search } = discovery
      const callable = [...(search ? [search] : []), ...on.map(({ tool }) => tool)]
      const byName = new Map(callable.map((tool) => [tool.name, tool]))
      const answer = (call: ModelToolCall, signal: AbortSignal) => {
        const tool = byName.get(call.name)
        if (!tool) return failed(`There is no tool "${call.name}"`)
        const refusal = refuse?.(tool, context, [...byName.values()])
        if (refusal !== undefined) return failed(refusal)
        return callTool(tool, call, { context, deadlineMilliseconds, log }, signal)
      }
      return {
        offered: discovery.offered,
        readInput: (text) => parseInput(text).value,
        async call(call, signal) {
          const started = performance.now()
          let isError = true
          try {
            const result = await answer(call, signal)
            isError = result.isError
            return result
          } finally {
            const milliseconds = Math.round(performance.now() - started)
            log.info({ tool: call.name, milliseconds, isError }, 'tool call')
          }
        },
      }
    },
  }
}

interface JudgedTool {
  tool: Tool
  state: ToolRecord['state']
  reason?: string
}

/** Each tool with its state, the built-in ones first. */
function judge(tools: readonly Tool[], isEnabled: (name: string) => boolean): JudgedTool[] {
  const isBuiltIn = ({ source }: Tool) => source === BUILT_IN
  const ordered = [...tools.filter(isBuiltIn), ...tools.filter((tool) => !isBuiltIn(tool))]
  const taken = new Map<string, Tool>()
  return ordered.map((tool) => {
    const holder = taken.get(tool.name)
    if (holder) {
      const reason = `The name is taken by a tool of ${holder.source}`
      return { tool, state: 'unavailable', reason }
    }
    taken.set(tool.name, tool)
    if (!isEnabled(tool.name)) return { tool, state: 'off' }
    const reason = tool.unavailable?.()
    return reason === undefined ? { tool, state: 'on' } : { tool, state: 'unavailable', reason }
  })
}

function toRecord({ tool, state, reason }: JudgedTool, modelCallsTools: boolean): ToolRecord {
  const { name, title, description, inputSchema, source } = tool
  const record = { name, title, description, inputSchema, source }
  if (state !== 'on') return { ...record, state, ...(reason !== undefined && { reason }) }
  if (modelCallsTools) return { ...record, state }
  return { ...record, state: 'unavailable', reason: 'The chat model does not call tools' }
}
