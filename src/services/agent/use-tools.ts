import type { ModelMessage, ModelToolCall } from '../../models/chat-model.ts'
import type { RunTools } from '../tools/registry.ts'
import type { AgentEvent } from './agent-event.ts'

/** Tool calls of one round that are run; a model that asks for more is told so. */
const MAXIMUM_CALLS = 16

/** Runs the calls of one round side by side and answers what the model is to read of them, in their order. */
export async function* useTools(
  calls: readonly ModelToolCall[],
  tools: Pick<RunTools, 'call' | 'readInput'>,
  signal: AbortSignal,
): AsyncGenerator<AgentEvent, ModelMessage[]> {
  for (const { callId, name, arguments: text } of calls) {
    yield { type: 'tool-call', callId, tool: name, input: tools.readInput(text) }
  }
  const results = await Promise.all(
    calls.map(async (call, index) => (index < MAXIMUM_CALLS ? tools.call(call, signal) : TOO_MANY)),
  )
  const messages: ModelMessage[] = []
  for (const [index, { callId, name }] of calls.entries()) {
    const result = results[index] ?? TOO_MANY
    yield { type: 'tool-result', callId, tool: name, ...result }
    messages.push({ role: 'tool', callId, content: result.output })
  }
  return messages
}

const TOO_MANY = { output: `Not run: at most ${MAXIMUM_CALLS} calls at once`, isError: true }
