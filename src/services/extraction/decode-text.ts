import { detect } from 'chardet'
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

const BYTE_ORDER_MARKS: readonly (readonly [string, readonly number[]])[] = [
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
]

/** Decodes a text in any encoding, with LF line ends; undefined if the bytes are not text. Throws `text_too_long`. */
export function decodeText(bytes: Buffer): string | undefined {
  const encoding = encodingOf(bytes)
  if (encoding === undefined) return undefined
  if (bytes.length > MAX_CHARACTERS * MAX_BYTES_PER_CHARACTER) throw tooLong()
  const text = new TextDecoder(encoding).decode(bytes).replaceAll(/\r\n?/g, '\n')
  return isText(text.slice(0, SAMPLE_BYTES)) ? text : undefined
}

/** The encoding's name as `TextDecoder` knows it; undefined if the bytes are not text. */
export function encodingOf(bytes: Buffer): string | undefined {
  const marked = BYTE_ORDER_MARKS.find(([, mark]) => mark.every((byte, i) => bytes[i] === byte))
  if (marked) return marked[0]
  const sample = bytes.subarray(0, SAMPLE_BYTES)
  const zeros = [zerosAt(sample, 0), zerosAt(sample, 1)] as const
  if (zeros[0] + zeros[1] > 0) return wideEncoding(zeros, sample.length / 2)
  if (isUtf8(sample)) return 'utf-8'
  const found = detect(sample) ?? FALLBACK
  return isKnown(found) ? found : FALLBACK
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
