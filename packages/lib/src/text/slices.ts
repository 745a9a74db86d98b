import { setImmediate } from 'node:timers/promises'

/** After this long, other work gets a turn. */
const SLICE_MS = 20
/** UTF-16 code units of a piece, and of its end in which white space is looked for. */
const PIECE = 65_536
/** Characters of a piece that is read character by character, as Markdown is: some 10 ms at most. */
export const SHORT_PIECE = 4_096
const MAX_BACK = 1_000

/**
 * To be awaited between the pieces of long work: lets others have a turn. Undefined if it is too early for that, as to
 * await nothing costs more than a small piece of work. Throws the reason of `signal`.
 */
export function createRest(signal: AbortSignal) {
  let began = performance.now()
  const rest = async () => {
    await setImmediate()
    signal.throwIfAborted()
    began = performance.now()
  }
  return () => (performance.now() - began < SLICE_MS ? undefined : rest())
}

/**
 * Cuts a text into pieces of up to `size` UTF-16 code units (more than 1,000), at white space if there is any, never
 * within a surrogate pair.
 */
export function* piecesOf(text: string, size = PIECE): Generator<string> {
  let start = 0
  while (text.length - start > size) {
    const end = start + size
    const tail = text.slice(end - MAX_BACK, end)
    const space = Math.max(tail.lastIndexOf(' '), tail.lastIndexOf('\n'))
    const isPair = /[\uD800-\uDBFF]/.test(text.charAt(end - 1))
    const cut = space === -1 ? end - (isPair ? 1 : 0) : end - MAX_BACK + space
    yield text.slice(start, cut)
    start = cut
  }
  yield text.slice(start)
}
