import type { AnswerFormat, ChatModel, ModelEvent, ModelUsage } from './chat-model.ts'
import type { Meter } from './meter.ts'

export interface Reader {
  model: Pick<ChatModel, 'name' | 'stream'>
  meter: Meter
}

export interface ShortTask {
  /** The system message. */
  rules: string
  prompt: string
  /** The address of a picture that goes with the prompt. */
  image?: string
  /** Maximum tokens of the answer; if absent, the model's own limit applies. */
  tokens?: number
  /** The form of the answer; text if absent. */
  format?: AnswerFormat
  /** UTF-16 code units after which the answer is cut and the call ends. */
  characters?: number
}

/** Asks the model for one short answer, without tools. Throws as `ChatModel.stream` and `Meter.begin`. */
export async function askModel(
  { model, meter }: Reader,
  { rules, prompt, image, format, tokens: maxTokens, characters = Infinity }: ShortTask,
  signal: AbortSignal,
): Promise<string> {
  const request = {
    messages: [
      { role: 'system' as const, content: rules },
      { role: 'user' as const, content: prompt, ...(image && { images: [{ url: image }] }) },
    ],
    tools: [],
    sampling: { maxTokens, format },
    chunks: [],
  }
  const sentBytes = Buffer.byteLength(rules + prompt)
  const end = await meter.begin({ model: model.name, sentBytes, maxTokens }, signal)
  const answer: ReadAnswer = { text: '', usage: undefined, hasBegun: false }
  try {
    for await (const batch of model.stream(request, signal)) {
      take(batch, answer)
      if (answer.text.length > characters) break
    }
  } finally {
    const call = {
      usage: answer.usage,
      sentBytes,
      receivedBytes: Buffer.byteLength(answer.text),
    }
    // The server may have read the prompt of an abandoned call.
    await end(answer.hasBegun || signal.aborted ? call : undefined)
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
