import type { ModelEvent, ModelRequest, ModelTool } from '../chat-model.ts'

/** Tools of fewer bytes do not show in the size of a prompt. */
const MIN_TOOLS = 1_500
/** What a token has at most, on average over a prompt, in bytes: more in sentences than in sentences and JSON. */
const MAX_TOKEN = 8
const MAX_TOKEN_WITH_TOOLS = 6

/**
 * What an answer says of whether the tools reached the model: some templates drop them without a word, and the prompt
 * then has too few tokens to contain them. Undefined if it says nothing.
 */
export function toolsSeen(
  { messages, tools }: ModelRequest,
  batch: readonly ModelEvent[],
): 'called' | 'missing' | undefined {
  const end = batch.at(-1)
  if (end?.type !== 'finish' || tools.length === 0) return undefined
  const tokens = end.usage?.promptTokens ?? 0
  if (tokens === 0) return undefined
  const [rest, offered] = [JSON.stringify(messages).length, JSON.stringify(tools).length]
  if (offered < MIN_TOOLS || tokens <= rest / MAX_TOKEN) return undefined
  if (end.reason === 'tool_calls') return 'called'
  return tokens < (rest + offered) / MAX_TOKEN_WITH_TOOLS ? 'missing' : undefined
}

const TOOL: ModelTool = {
  name: 'look_up_weather',
  description: 'Looks up the weather of a city at this moment.',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
}

/** Whether a short question has as many tokens with a tool as without: then the template leaves tools out. */
export async function leavesToolsOut(
  promptTokens: (request: ModelRequest) => Promise<number | undefined>,
): Promise<boolean> {
  const sizeWith = (tools: readonly ModelTool[]) => {
    const messages = [{ role: 'user' as const, content: 'Hi' }]
    return promptTokens({ messages, tools, sampling: { maxTokens: 1 }, chunks: [] })
  }
  const size = await sizeWith([])
  return size !== undefined && size === (await sizeWith([TOOL]))
}
