import { MAX_CHARACTERS, tooLong } from './extracted.ts'

/** Enough bytes to detect an encoding. */
const SAMPLE_BYTES = 65_536
/** The most bytes that any encoding uses for a character. */
const MAX_BYTES_PER_CHARACTER = 4
/** Binary files have a far larger share of control characters than this, texts next to none. */
const MAX_CONTROLS = 0.002
/** In UTF-16, Western text has a zero in every second byte; other scripts still have one in each space and line end. */
const MIN_ZEROS = 0.02
const FALLBACK = 'windows-1252'
/** Confidence out of 100 below which an encoding is a guess, as it always is for a short text. */
const SURE = 40
/** Minimum share of characters that are plausible in a text: in the right encoding nearly all are. */
const LIKELY = 0.9
const POSSIBLE = 0.5
/** Letters, digits and their marks of every script, ASCII, and the punctuation of Chinese and Japanese. */
const BELONGS = /[\p{L}\p{M}\p{N}\t -~\u3000-\u303f\uff00-\uffef]/u
const TESTED_CHARACTERS = 4_096
/** The bytes in which a text may name its encoding. */
const PROLOG_BYTES = 2_048
/** How XML, HTML and source code name their encoding. */
const DECLARATIONS = [
  /^\s*<\?xml[^>]*?\sencoding\s*=\s*["']([\w.:-]+)/,
  /<meta\s[^>]*?charset\s*=\s*["']?\s*([\w.:-]+)/i,
  /^(?:.*\n)?.*?coding[:=]\s*([\w.-]+)/,
]
/** How a text in ISO 2022 changes to Japanese; all its bytes are those of ASCII. */
const TO_JAPANESE = ['\u001b$B', '\u001b$@']

const BYTE_ORDER_MARKS: readonly (readonly [string, readonly number[]])[] = [
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
]

/**
 * Decodes a text in any encoding, with LF line ends; undefined if the bytes are not text. Calls `onGuess` if the
 * encoding is uncertain. Throws `text_too_long`.
 */
export async function decodeText(
  bytes: Buffer,
  onGuess: (encoding: string) => void = () => undefined,
): Promise<string | undefined> {
  const encoding = await encodingOf(bytes, onGuess)
  if (encoding === undefined) return undefined
  if (bytes.length > MAX_CHARACTERS * MAX_BYTES_PER_CHARACTER) throw tooLong()
  const text = new TextDecoder(encoding).decode(bytes).replaceAll(/\r\n?/g, '\n')
  return isText(text.slice(0, SAMPLE_BYTES)) ? text : undefined
}

/** The encoding's name as `TextDecoder` knows it; undefined if the bytes are not text. */
export async function encodingOf(
  bytes: Buffer,
  onGuess: (encoding: string) => void = () => undefined,
): Promise<string | undefined> {
  const [encoding] =
    BYTE_ORDER_MARKS.find(([, mark]) => mark.every((byte, i) => bytes[i] === byte)) ?? []
  if (encoding !== undefined) return encoding
  const sample = bytes.subarray(0, SAMPLE_BYTES)
  const zeros = [zerosAt(sample, 0), zerosAt(sample, 1)] as const
  if (zeros[0] + zeros[1] > 0) return wideEncoding(zeros, sample.length / 2)
  if (isUtf8(sample, sample.length < bytes.length))
    return TO_JAPANESE.some((mark) => sample.includes(mark)) ? 'iso-2022-jp' : 'utf-8'
  const declaration = declaredIn(sample.toString('latin1', 0, PROLOG_BYTES))
  if (declaration !== undefined && shareOfText(sample, declaration) >= LIKELY) return declaration
  const { name, confidence } = await likeliest(sample)
  if (name !== undefined && confidence < SURE) onGuess(name)
  return name
}

/** The encoding that the text itself names; undefined if there is none that is known. */
function declaredIn(prolog: string): string | undefined {
  for (const declaration of DECLARATIONS) {
    const name = declaration.exec(prolog)?.[1]
    // Not UTF-8, as the bytes are invalid in it; not UTF-16, as the name is readable in Latin-1.
    if (name !== undefined && !/^utf/i.test(name) && isKnown(name)) return name
  }
  return undefined
}

/** The words with characters beyond ASCII, which alone distinguish encodings: markup and numbers would outweigh them. */
function wordsBeyondAscii(sample: Buffer): Buffer {
  const words: Buffer[] = []
  let [start, isBeyond] = [0, false]
  for (let i = 0; i <= sample.length; i++) {
    const byte = sample[i] ?? 0
    if (byte > 0x7f) isBeyond = true
    if (!isSeparator(byte)) continue
    if (isBeyond) words.push(Buffer.from(' '), sample.subarray(start, i))
    start = i + 1
    isBeyond = false
  }
  return Buffer.concat(words)
}

/** White space and punctuation that are not the second byte of a character in any encoding. */
const isSeparator = (byte: number) => byte < 0x30 || (byte > 0x39 && byte < 0x40)

/** Of the encodings in which the sample is a text, the one that is detected with most confidence. */
async function likeliest(
  sample: Buffer,
): Promise<{ name: string | undefined; confidence: number }> {
  let best = { name: undefined as string | undefined, confidence: 0, share: POSSIBLE }
  for (const { name, confidence } of [
    ...(await candidates(sample)),
    { name: FALLBACK, confidence: 0 },
  ]) {
    const share = shareOfText(sample, name)
    if (share >= LIKELY) return { name, confidence }
    if (share > best.share) best = { name, confidence, share }
  }
  return best
}

/** By confidence, in the whole sample and in its words beyond ASCII: markup looks like English. */
async function candidates(sample: Buffer) {
  // Loaded on demand: most texts are UTF-8.
  const { analyse } = await import('chardet')
  const sum = new Map<string, number>()
  for (const part of [sample, wordsBeyondAscii(sample)]) {
    for (const { name, confidence } of analyse(part)) {
      if (name !== 'ASCII' && isKnown(name)) sum.set(name, (sum.get(name) ?? 0) + confidence / 2)
    }
  }
  return Array.from(sum, ([name, confidence]) => ({ name, confidence })).toSorted(
    (one, other) => other.confidence - one.confidence,
  )
}

/** The share of plausible characters, without white space; 0 if some bytes are invalid in this encoding. */
function shareOfText(sample: Buffer, encoding: string): number {
  let text: string
  try {
    text = new TextDecoder(encoding, { fatal: true }).decode(sample, { stream: true })
  } catch {
    return 0
  }
  const excerpt = text.slice(0, TESTED_CHARACTERS)
  if (joinsMost(excerpt)) return 0
  const signs = [...excerpt.replaceAll(/\s+/g, '')]
  return signs.filter((sign) => BELONGS.test(sign)).length / Math.max(signs.length, 1)
}

/** Whether most words with East Asian characters also have Latin letters: two accented letters were read as one character. */
function joinsMost(text: string): boolean {
  const words =
    text.match(/[\p{Script=Latin}\p{Script=Han}\p{Script=Hangul}\uff00-\uffef]+/gu) ?? []
  const eastern = words.filter((word) =>
    /[\p{Script=Han}\p{Script=Hangul}\uff00-\uffef]/u.test(word),
  )
  return eastern.filter((word) => /[a-z]/.test(word)).length > eastern.length / 2
}

function wideEncoding([even, odd]: readonly [number, number], pairs: number): string | undefined {
  if (Math.max(even, odd) / pairs < MIN_ZEROS) return undefined
  if (even > odd * 8) return 'utf-16be'
  return odd > even * 8 ? 'utf-16le' : undefined
}

function zerosAt(bytes: Buffer, first: number): number {
  let zeros = 0
  for (let i = first; i < bytes.length; i += 2) if (bytes[i] === 0) zeros++
  return zeros
}

/** If the sample is cut off, so may be its last character. */
function isUtf8(sample: Buffer, isCut: boolean): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(sample, { stream: isCut })
    return true
  } catch {
    return false
  }
}

function isKnown(encoding: string): boolean {
  try {
    return new TextDecoder(encoding) !== undefined
  } catch {
    return false
  }
}

function isText(sample: string): boolean {
  let controls = 0
  for (let i = 0; i < sample.length; i++) {
    const code = sample.charCodeAt(i)
    if (code < 32 && !(code >= 9 && code <= 13) && code !== 27) controls++
  }
  return controls <= sample.length * MAX_CONTROLS
}
