import { settlesWithin } from '@agent-server/lib/abort.ts'
import { ignore } from '@agent-server/lib/ignore.ts'
import { inSpan, quote } from '@agent-server/lib/tracing.ts'
import type { ModelMessage } from '@agent-server/models'
import type { AgentEvent, ToolProgress } from '@agent-server/wire'
import type { Citations } from '../citations/citations.ts'
import { failedResult, type RunTools, type ToolCall, type ToolResult } from '../tools/registry.ts'
import type { RunBudget } from './budget.ts'
import type { RunTrace } from './run-trace.ts'

/** Maximum tool calls per round; calls beyond that are answered with an error that says so. */
const MAX_CALLS = 16
/** How often the progress of calls is reported. */
const PROGRESS_MS = 500

const TOO_MANY_AT_ONCE = failedResult(`Not run: at most ${MAX_CALLS} calls at once`)
const TOO_MANY = failedResult('Not run: no more tools can be called for this question. Answer now.')
const REFUSED = failedResult(
  'Not run: the user refused this call. Do not repeat it; go on without it.',
)
const TOO_LATE = failedResult('Ended: the time for this question is over. Answer now.')

interface Dependencies {
  tools: Pick<RunTools, 'call'>
  budget: Pick<RunBudget, 'takeCalls' | 'toolTime' | 'note'>
  citations: Pick<Citations, 'show'>
  trace?: Pick<RunTrace, 'called'> | undefined
}

/** The calls that begin now. */
export function callEvents(calls: readonly ToolCall[]): AgentEvent[] {
  const open = calls.filter(({ result, answered }) => !result && !answered)
  return open.map(({ callId, name, input }) => ({ type: 'tool-call', callId, tool: name, input }))
}

export interface RanCall {
  call: ToolCall
  result: ToolResult
}

interface Parts extends Dependencies {
  isRefused: (call: ToolCall) => boolean
}

/** Whom a running call tells how far it is, and what ends it once nobody waits for it. */
interface Watching {
  progressed: (call: ToolCall, progress: ToolProgress) => void
  left: AbortSignal
}

/** Runs the calls of one round, and tells how far they are while they run. */
export async function* runCalls(
  calls: readonly ToolCall[],
  parts: Parts,
  signal: AbortSignal,
): AsyncGenerator<AgentEvent[], RanCall[]> {
  const left = new AbortController()
  const news = new Map<string, AgentEvent>()
  const progressed: Watching['progressed'] = ({ callId, name: tool }, progress) =>
    void news.set(callId, { type: 'tool-progress', callId, tool, ...progress })
  const results = callAll(calls, { ...parts, progressed, left: left.signal }, signal)
  const over = ignore(results, 'whoever waits for the results is told')
  try {
    while (!(await settlesWithin(over, PROGRESS_MS))) {
      if (news.size > 0) yield [...news.values()]
      news.clear()
    }
    return await results
  } finally {
    left.abort()
    await over
  }
}

/** Runs the calls concurrently, except for those that are done or that the client refused. */
async function callAll(
  calls: readonly ToolCall[],
  { isRefused, citations, trace, ...parts }: Parts & Watching,
  signal: AbortSignal,
): Promise<RanCall[]> {
  const open = calls.filter(({ result }) => !result)
  const allowed = parts.budget.takeCalls(Math.min(open.length, MAX_CALLS))
  return Promise.all(
    calls.map(async (call) => {
      if (call.result) return { call, result: call.result }
      const index = open.indexOf(call)
      if (!call.answered && isRefused(call)) return { call, result: REFUSED }
      if (index >= MAX_CALLS) return { call, result: TOO_MANY_AT_ONCE }
      if (index >= allowed) return { call, result: TOO_MANY }
      const attributes = {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.type': 'function',
        'gen_ai.tool.name': call.name,
        'gen_ai.tool.call.id': call.callId,
        ...quote('gen_ai.tool.call.arguments', () => call.input),
      }
      const began = performance.now()
      const result = await inSpan(`execute_tool ${call.name}`, { attributes }, async (span) => {
        const outcome = await callInTime(call, parts, signal)
        if (outcome.isError) span.setAttributes({ 'error.type': 'tool_error' })
        const output = citations.show(outcome.output)
        span.setAttributes(quote('gen_ai.tool.call.result', () => output))
        return { ...outcome, output }
      })
      trace?.called(call, result, performance.now() - began)
      return { call, result }
    }),
  )
}

/** The new results; a call whose server waits for an answer has none yet. */
export function resultEvents(results: readonly RanCall[]): AgentEvent[] {
  return results.flatMap(({ call: { callId, name: tool, result: earlier }, result }) => {
    const { output, isError, elicited } = result
    return earlier || elicited ? [] : [{ type: 'tool-result', callId, tool, output, isError }]
  })
}

export function resultMessages(results: readonly RanCall[]): ModelMessage[] {
  return results.map(({ call: { callId }, result }) => {
    return { role: 'tool', callId, content: result.output }
  })
}

async function callInTime(
  call: ToolCall,
  { tools, budget, progressed, left }: Pick<Dependencies, 'tools' | 'budget'> & Watching,
  signal: AbortSignal,
): Promise<ToolResult> {
  const running = { ...call, progressed: (progress: ToolProgress) => progressed(call, progress) }
  try {
    return await tools.call(running, AbortSignal.any([budget.toolTime.signal, left]))
  } catch (error) {
    if (signal.aborted || !budget.toolTime.isOver) throw error
    budget.note('seconds')
    return TOO_LATE
  }
}
