import type { ChatModel, ModelEvent, ModelUsage, Spend } from './chat-model.ts'

export interface Reader {
  model: Pick<ChatModel, 'stream'>
  /** Called for each call that the model has begun to answer. */
  spend: Spend
}

export interface ShortTask {
  /** The system message. */
  rules: string
  prompt: string
  /** The address of a picture that goes with the prompt. */
  image?: string
  /** Maximum tokens of the answer; if absent, the model's own limit applies. */
  tokens?: number
  /** UTF-16 code units after which the answer is cut and the call ends. */
  characters?: number
}

/** Asks the model for one short answer, without tools. Throws as `ChatModel.stream`. */
export async function askModel(
  { model, spend }: Reader,
  { rules, prompt, image, tokens: maxTokens, characters = Number.POSITIVE_INFINITY }: ShortTask,
  signal: AbortSignal,
): Promise<string> {
  const request = {
    messages: [
      { role: 'system' as const, content: rules },
      { role: 'user' as const, content: prompt, ...(image && { images: [{ url: image }] }) },
    ],
    tools: [],
    sampling: { maxTokens },
    chunks: [],
  }
  const answer: ReadAnswer = { text: '', usage: undefined, hasBegun: false }
  try {
    for await (const batch of model.stream(request, signal)) {
      take(batch, answer)
      if (answer.text.length > characters) break
    }
  } finally {
    const bytes = Buffer.byteLength(rules + prompt + answer.text)
    // Of a call that is given up, the server may have read the prompt.
    if (answer.hasBegun || signal.aborted) spend(answer.usage, bytes)
  }
  return answer.text.slice(0, characters).toWellFormed().trim()
}

interface ReadAnswer {
  text: string
  usage: ModelUsage | undefined
  hasBegun: boolean
}

function take(batch: readonly ModelEvent[], read: ReadAnswer): void {
  read.hasBegun = true
  for (const event of batch) {
    if (event.type === 'text-delta') read.text += event.text
    if (event.type === 'finish') read.usage = event.usage
  }
}
