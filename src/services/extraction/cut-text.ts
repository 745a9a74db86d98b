/** Short enough that a copy on its way from process to process weighs little. */
const PIECE_CHARACTERS = 65_536

/** The pieces of a text, in order; none divides a character. */
export function* cutText(text: string, most = PIECE_CHARACTERS): Generator<string> {
  let start = 0
  while (start < text.length) {
    const end = start + most
    const isDivided = isHighSurrogate(text.charCodeAt(end - 1)) && end < text.length
    const next = isDivided ? end - 1 : end
    yield text.slice(start, next)
    start = next
  }
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff
}
