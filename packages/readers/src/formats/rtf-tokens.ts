const OPEN = 0x7b
const CLOSE = 0x7d
const BACKSLASH = 0x5c
const MINUS = 0x2d
const SPACE = 0x20
const QUOTE = 0x27
/** Longer words and numbers are none that mean anything. */
const MAX_WORD = 40
const MAX_DIGITS = 10

/** What control words write that stand for one character. */
export const PUNCTUATION = {
  emdash: '—',
  endash: '–',
  lquote: '‘',
  rquote: '’',
  ldblquote: '“',
  rdblquote: '”',
  bullet: '•',
}

interface RtfHandler {
  open(): void
  close(): void
  /** A control word, `\par` or `\fs24`, with its number. */
  word(name: string, value: number | undefined): void
  /** A backslash with anything but a letter behind it. */
  symbol(sign: string): void
  /** Characters in the code page that is set. */
  text(bytes: Uint8Array): void
}

/** Reads rich text from beginning to end, in time linear in its length. `\bin` data is skipped. */
export function readRtf(bytes: Buffer, handler: RtfHandler): void {
  let at = 0
  while (at < bytes.length) {
    const code = bytes[at]
    if (code === BACKSLASH) at = readControl(bytes, at + 1, handler)
    else if (code === OPEN || code === CLOSE) {
      if (code === OPEN) handler.open()
      else handler.close()
      at++
    } else at = readText(bytes, at, handler)
  }
}

const isLineEnd = (code: number | undefined) => code === 0x0a || code === 0x0d
const isPlain = (code: number | undefined) =>
  code !== BACKSLASH && code !== OPEN && code !== CLOSE && !isLineEnd(code)

/** Line ends in the file mean nothing. */
function readText(bytes: Buffer, start: number, { text }: RtfHandler): number {
  let end = start
  while (end < bytes.length && isPlain(bytes[end])) end++
  if (end > start) text(bytes.subarray(start, end))
  return isLineEnd(bytes[end]) ? end + 1 : end
}

const isLetter = (code = 0) => (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a)
const isDigit = (code = 0) => code >= 0x30 && code <= 0x39

/** Reads what follows a backslash. Returns where the text continues. */
function readControl(bytes: Buffer, start: number, handler: RtfHandler): number {
  if (bytes[start] === QUOTE) return readHex(bytes, start + 1, handler)
  if (!isLetter(bytes[start])) {
    handler.symbol(bytes.toString('latin1', start, start + 1))
    return start + 1
  }
  let end = start
  while (isLetter(bytes[end])) end++
  const digits = bytes[end] === MINUS ? end + 1 : end
  let behind = digits
  while (isDigit(bytes[behind])) behind++
  const name = bytes.toString('latin1', start, Math.min(end, start + MAX_WORD))
  const number = bytes.toString('latin1', end, Math.min(behind, digits + MAX_DIGITS))
  const value = behind > digits ? Number(number) : undefined
  const next = behind > digits ? behind : end
  handler.word(name, value)
  const after = bytes[next] === SPACE ? next + 1 : next
  return name === 'bin' ? after + Math.max(value ?? 0, 0) : after
}

function readHex(bytes: Buffer, start: number, { text }: RtfHandler): number {
  const digits = bytes.toString('latin1', start, start + 2)
  if (!/^[\da-f]{2}$/i.test(digits)) return start
  text(Uint8Array.of(Number.parseInt(digits, 16)))
  return start + 2
}
