import type { ModelMessage } from '../../models/chat-model.ts'
import { BYTES_PER_TOKEN, sizeOfMessages } from '../../models/token-estimate.ts'

/** The rest is left for answers. */
const SHARE_OF_WINDOW = 0.8
/** Bytes that stay of a result which has to make room. */
const REMAINDER = 400

/**
 * The messages, with the oldest results of tools shortened until all fit the window: a run of many rounds
 * would be refused otherwise. The results of the latest round are cut last, and evenly.
 */
export function fitResults(
  messages: readonly ModelMessage[],
  contextTokens: number,
): ModelMessage[] {
  let excess = sizeOfMessages(messages) - contextTokens * SHARE_OF_WINDOW * BYTES_PER_TOKEN
  const latest = messages.findLastIndex(({ role }) => role === 'assistant')
  const isLatest = (index: number) => index > latest
  const newest = messages.filter(({ role }, index) => role === 'tool' && isLatest(index)).length

  return messages.map((message, index) => {
    if (message.role !== 'tool' || excess <= 0) return message
    const size = Buffer.byteLength(message.content)
    const wanted = isLatest(index) ? size - excess / newest : 0
    const content = shorten(message.content, Math.max(wanted, REMAINDER) / size)
    if (!isLatest(index)) excess -= size - Buffer.byteLength(content)
    return { ...message, content }
  })
}

/** Leaves `part` of a text, 0 to 1. */
function shorten(text: string, part: number): string {
  if (part >= 1) return text
  const shown = text.slice(0, Math.floor(text.length * part)).toWellFormed()
  return `${shown}\n[cut to fit the model's window: ${text.length - shown.length} more characters]`
}
