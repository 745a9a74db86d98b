import type { ModelMessage } from '@agent-server/models'
import { sizeOfMessages } from '@agent-server/models'
import { withoutCitations } from '@agent-server/wire'

/** Removes citations of earlier runs, whose numbers now refer to other chunks. Throws the reason of `signal`. */
export async function withoutMarks(
  messages: readonly ModelMessage[],
  signal: AbortSignal,
): Promise<ModelMessage[]> {
  const unmarked: ModelMessage[] = []
  for (const message of messages) {
    const { role, content } = message
    const isAnswer = role === 'assistant'
    unmarked.push(
      isAnswer ? { ...message, content: await withoutCitations(content, signal) } : message,
    )
  }
  return unmarked
}

/** Groups messages into turns: each begins with a user message and keeps tool calls and results together. */
export function toTurns(messages: readonly ModelMessage[]): ModelMessage[][] {
  const turns: ModelMessage[][] = []
  for (const message of messages) {
    const current = turns.at(-1)
    if (message.role === 'user' || !current) turns.push([message])
    else current.push(message)
  }
  return turns
}

/** The passages of this many turns are dropped at once: in between, the beginning of the prompt stays the same. */
const TURNS_AT_ONCE = 4

/**
 * The turns as they were sent, within this many bytes; if there is too little room, without the passages of the oldest
 * ones.
 */
export function asSent(
  turns: readonly ModelMessage[][],
  recalled: ReadonlyMap<ModelMessage, string>,
  bytes: number,
): readonly ModelMessage[][] {
  if (recalled.size === 0) return turns
  const inFull = (message: ModelMessage) => ({
    ...message,
    content: recalled.get(message) ?? message.content,
  })
  for (let first = 0; first < turns.length; first += TURNS_AT_ONCE) {
    const sentTurns = turns.map((turn, index) => (index < first ? turn : turn.map(inFull)))
    if (sizeOfMessages(sentTurns.flat()) <= bytes) return sentTurns
  }
  return turns
}

/**
 * The latest turns that fit into so many bytes. The oldest are left out a `step` of bytes at once, so that the
 * beginning of the prompt stays the same in between; `sizes` are those of the turns without passages, which stay the
 * same, too.
 */
export function latestTurns(
  turns: readonly ModelMessage[][],
  bytes: number,
  { sizes, step }: { sizes: readonly number[]; step: number },
): ModelMessage[] {
  let room = bytes
  const fitting =
    1 +
    turns.findLastIndex((turn) => {
      room -= sizeOfMessages(turn)
      return room < 0
    })
  if (fitting === 0) return turns.flat()
  const isPossible = (index: number) => index >= fitting && index < turns.length
  return turns.slice(stepsOf(sizes, step).find(isPossible) ?? fitting).flat()
}

/** The turns before which another step of bytes is complete. */
function stepsOf(sizes: readonly number[], step: number): number[] {
  let before = 0
  return sizes.flatMap((size, index) => {
    const isComplete = Math.floor(before / step) < Math.floor((before + size) / step)
    before += size
    return isComplete ? [index + 1] : []
  })
}
