import type { ChatModel, ModelUsage } from './chat-model.ts'

export interface Reader {
  model: Pick<ChatModel, 'stream'>
  /** Called with the token usage of each call. */
  spend(usage: ModelUsage): void
}

interface ShortTask {
  /** The system message. */
  rules: string
  prompt: string
  /** Maximum tokens of the answer; if absent, the model's own limit applies. */
  tokens?: number
  /** UTF-16 code units after which the answer is cut and the call ends. */
  characters?: number
}

/** Asks the model for one short answer, without tools. Throws as `ChatModel.stream`. */
export async function askModel(
  { model, spend }: Reader,
  { rules, prompt, tokens: maxTokens, characters = Number.POSITIVE_INFINITY }: ShortTask,
  signal: AbortSignal,
): Promise<string> {
  const request = {
    messages: [
      { role: 'system' as const, content: rules },
      { role: 'user' as const, content: prompt },
    ],
    tools: [],
    sampling: { maxTokens },
    chunks: [],
  }
  let text = ''
  for await (const batch of model.stream(request, signal)) {
    for (const event of batch) {
      if (event.type === 'text-delta') text += event.text
      if (event.type === 'finish' && event.usage) spend(event.usage)
    }
    if (text.length > characters) break
  }
  return text.slice(0, characters).toWellFormed().trim()
}
