import { analyse } from 'chardet'
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
/** Of 100: below it, an encoding is a guess, as always in a short text. */
const SURE = 40
/** The share of signs that belong in a text: in the right encoding nearly all do. */
const LIKELY = 0.9
const POSSIBLE = 0.5
/** Letters, digits and their marks of every script, ASCII, and the punctuation of Chinese and Japanese. */
const BELONGS = /[\p{L}\p{M}\p{N}\t -~\u3000-\u303f\uff00-\uffef]/u
const TESTED_CHARACTERS = 4_096

const BYTE_ORDER_MARKS: readonly (readonly [string, readonly number[]])[] = [
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
]

/**
 * Decodes a text in any encoding, with LF line ends; undefined if the bytes are not text. Calls `onGuess` if the
 * encoding is uncertain. Throws `text_too_long`.
 */
export function decodeText(
  bytes: Buffer,
  onGuess: (encoding: string) => void = () => undefined,
): string | undefined {
  const encoding = encodingOf(bytes, onGuess)
  if (encoding === undefined) return undefined
  if (bytes.length > MAX_CHARACTERS * MAX_BYTES_PER_CHARACTER) throw tooLong()
  const text = new TextDecoder(encoding).decode(bytes).replaceAll(/\r\n?/g, '\n')
  return isText(text.slice(0, SAMPLE_BYTES)) ? text : undefined
}

/** The encoding's name as `TextDecoder` knows it; undefined if the bytes are not text. */
export function encodingOf(
  bytes: Buffer,
  onGuess: (encoding: string) => void = () => undefined,
): string | undefined {
  const marked = BYTE_ORDER_MARKS.find(([, mark]) => mark.every((byte, i) => bytes[i] === byte))
  if (marked) return marked[0]
  const sample = bytes.subarray(0, SAMPLE_BYTES)
  const zeros = [zerosAt(sample, 0), zerosAt(sample, 1)] as const
  if (zeros[0] + zeros[1] > 0) return wideEncoding(zeros, sample.length / 2)
  if (isUtf8(sample)) return 'utf-8'
  const { name, confidence } = likeliest(sample)
  if (name !== undefined && confidence < SURE) onGuess(name)
  return name
}

/** Of the encodings in which the sample is a text, the one that is detected with most confidence. */
function likeliest(sample: Buffer): { name: string | undefined; confidence: number } {
  const found = analyse(sample).filter(({ name }) => name !== 'ASCII' && isKnown(name))
  let best = { name: undefined as string | undefined, confidence: 0, share: POSSIBLE }
  for (const { name, confidence } of [...found, { name: FALLBACK, confidence: 0 }]) {
    const share = shareOfText(sample, name)
    if (share >= LIKELY) return { name, confidence }
    if (share > best.share) best = { name, confidence, share }
  }
  return best
}

/** The share of signs that belong in a text, without white space; 0 if some bytes are none in this encoding. */
function shareOfText(sample: Buffer, encoding: string): number {
  let text: string
  try {
    text = new TextDecoder(encoding, { fatal: true }).decode(sample, { stream: true })
  } catch {
    return 0
  }
  const signs = [...text.slice(0, TESTED_CHARACTERS).replaceAll(/\s+/g, '')]
  return signs.filter((sign) => BELONGS.test(sign)).length / Math.max(signs.length, 1)
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

/** Accepts a character that is cut off at the end of the sample. */
function isUtf8(sample: Buffer): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(sample, { stream: true })
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
