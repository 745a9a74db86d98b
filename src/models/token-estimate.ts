import type { ModelMessage } from './chat-model.ts'

/**
 * Of UTF-8, for each token: four letters in English, two in Cyrillic or Arabic, one or two characters in
 * Chinese. Models differ by about a third either way, which whoever fits text into a window has to allow for.
 */
export const BYTES_PER_TOKEN = 4

/** What an image counts, in bytes of text: about a thousand tokens. */
const IMAGE_BYTES = 4_000

export function estimateTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN)
}

/** Bytes of UTF-8 that the messages hold, calls of tools with them. */
export function sizeOfMessages(messages: readonly ModelMessage[]): number {
  return messages.reduce((sum, message) => {
    const calls = message.role === 'assistant' ? (message.toolCalls ?? []) : []
    const images = message.role === 'user' ? (message.images ?? []) : []
    const sizes = [
      ...calls.map((call) => Buffer.byteLength(call.arguments)),
      ...images.map(() => IMAGE_BYTES),
    ]
    return sizes.reduce((all, size) => all + size, sum + Buffer.byteLength(message.content))
  }, 0)
}
