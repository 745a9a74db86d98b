import type { ChatModel, ModelUsage } from './chat-model.ts'

export interface Reader {
  model: Pick<ChatModel, 'stream'>
  /** Is given the tokens of each call. */
  spend(usage: ModelUsage): void
}

interface ShortTask {
  /** The system message. */
  rules: string
  prompt: string
  /** Tokens of the answer at most; the model's own bound without it. */
  tokens?: number
  /** UTF-16 code units after which the answer is cut and the call ended. */
  characters?: number
}

/** One short answer of the model, without tools. */
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
    ...{ tools: [], sampling: { maxTokens }, chunks: [] },
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
