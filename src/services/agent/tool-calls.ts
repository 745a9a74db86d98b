import type { ModelMessage, ModelToolCall } from '../../models/chat-model.ts'
import {
  failed,
  parseCall,
  type RunTools,
  type ToolCall,
  type ToolResult,
} from '../tools/registry.ts'
import type { AgentEvent } from './agent-event.ts'
import type { RunBudget } from './budget.ts'

/** Tool calls of one round that are run; a model that asks for more is told so. */
const MAX_CALLS = 16

const TOO_MANY_AT_ONCE = failed(`Not run: at most ${MAX_CALLS} calls at once`)
const TOO_MANY = failed('Not run: no more tools can be called for this question. Answer now.')
const TOO_LATE = failed('Ended: the time for this question is over. Answer now.')

interface Means {
  tools: Pick<RunTools, 'call'>
  budget: Pick<RunBudget, 'takeCalls' | 'toolTime' | 'note'>
}

/** Runs the calls of one round side by side and answers what the model is to read of them, in their order. */
export async function* useTools(
  calls: readonly ModelToolCall[],
  { tools, budget }: Means,
  signal: AbortSignal,
): AsyncGenerator<AgentEvent, ModelMessage[]> {
  const parsed = calls.map(parseCall)
  for (const { callId, name, input } of parsed) {
    yield { type: 'tool-call', callId, tool: name, input }
  }
  const allowed = budget.takeCalls(Math.min(calls.length, MAX_CALLS))
  const results = await Promise.all(
    parsed.map(async (call, index) => {
      if (index >= MAX_CALLS) return TOO_MANY_AT_ONCE
      return index < allowed ? callInTime(call, { tools, budget }, signal) : TOO_MANY
    }),
  )
  const messages: ModelMessage[] = []
  for (const [index, { callId, name }] of calls.entries()) {
    const result = results[index] ?? TOO_MANY
    yield { type: 'tool-result', callId, tool: name, ...result }
    messages.push({ role: 'tool', callId, content: result.output })
  }
  return messages
}

async function callInTime(
  call: ToolCall,
  { tools, budget }: Means,
  signal: AbortSignal,
): Promise<ToolResult> {
  try {
    return await tools.call(call, AbortSignal.any([signal, budget.toolTime]))
  } catch (error) {
    if (signal.aborted || !budget.toolTime.aborted) throw error
    budget.note('seconds')
    return TOO_LATE
  }
}
