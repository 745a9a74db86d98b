import type { ModelMessage } from '../../models/chat-model.ts'

/** As the prompt estimates it; the part of the window is what is left for answers. */
const CHARACTERS_PER_TOKEN = 4
const SHARE_OF_WINDOW = 0.8
/** UTF-16 code units that stay of a result which has to make room. */
const REMAINDER = 400

/**
 * The messages, with the oldest results of tools shortened until all fit the window: a run of many rounds
 * would be refused otherwise. The results of the latest round are cut last, and evenly.
 */
export function fitResults(
  messages: readonly ModelMessage[],
  contextTokens: number,
): ModelMessage[] {
  let excess = sizeOf(messages) - contextTokens * SHARE_OF_WINDOW * CHARACTERS_PER_TOKEN
  const latest = messages.findLastIndex(({ role }) => role === 'assistant')
  const isLatest = (index: number) => index > latest
  const newest = messages.filter(({ role }, index) => role === 'tool' && isLatest(index)).length

  return messages.map((message, index) => {
    if (message.role !== 'tool' || excess <= 0) return message
    const wanted = isLatest(index) ? message.content.length - excess / newest : 0
    const content = shorten(message.content, Math.max(Math.floor(wanted), REMAINDER))
    if (!isLatest(index)) excess -= message.content.length - content.length
    return { ...message, content }
  })
}

export function sizeOf(messages: readonly ModelMessage[]): number {
  return messages.reduce((sum, message) => {
    const calls = message.role === 'assistant' ? (message.toolCalls ?? []) : []
    return calls.reduce((all, call) => all + call.arguments.length, sum + message.content.length)
  }, 0)
}

function shorten(text: string, length: number): string {
  if (text.length <= length) return text
  const shown = text.slice(0, length).toWellFormed()
  return `${shown}\n[cut to fit the model's window: ${text.length - length} more characters]`
}
