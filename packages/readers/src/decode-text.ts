import { isAscii, isUtf8 } from 'node:buffer'
import { MAX_CHARACTERS, type ReadingWarning, tooLong } from './extracted.ts'

/** Enough bytes to detect an encoding. */
const SAMPLE_BYTES = 65_536
/** The most bytes that any encoding uses for a character. */
const MAX_BYTES_PER_CHARACTER = 4
/** Binary files have a far larger share of control characters than this, texts next to none. */
const MAX_CONTROLS = 0.002
/** In UTF-16, Western text has a zero in every second byte; other scripts still have one in each space and line end. */
const MIN_ZEROS = 0.02
/** A text with fewer zeros than this, and without other control characters, has them by mistake. */
const MAX_STRAY_ZEROS = 0.05
const FALLBACK = 'windows-1252'
/** Words beyond ASCII that do not reveal their encoding. */
const MAX_FEW = 4
/** Confidence out of 100 below which an encoding is a guess, as it always is for a short text. */
const SURE = 40
/** Bytes beyond ASCII below which any encoding is a guess. */
const ENOUGH = 16
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
  const decoded = new TextDecoder(encoding).decode(bytes)
  const text = decoded.replaceAll('\0', '').replaceAll(/\r\n?/g, '\n')
  return isText(text.slice(0, SAMPLE_BYTES)) ? text : undefined
}

export const uncertainEncoding = (encoding: string): ReadingWarning => ({
  code: 'uncertain_encoding',
  message: `Read as ${encoding}; if letters are wrong, save the file as UTF-8 and send it again`,
})

/** The encoding's name as `TextDecoder` knows it; undefined if the bytes are not text. */
export async function encodingOf(
  bytes: Buffer,
  onGuess: (encoding: string) => void = () => undefined,
): Promise<string | undefined> {
  const [encoding] =
    BYTE_ORDER_MARKS.find(([, mark]) => mark.every((byte, i) => bytes[i] === byte)) ?? []
  if (encoding !== undefined) return encoding
  const start = bytes.subarray(0, SAMPLE_BYTES)
  const zeros = [zerosAt(start, 0), zerosAt(start, 1)] as const
  if (zeros[0] + zeros[1] > 0) {
    return hasStrayZeros(start) ? 'utf-8' : wideEncoding(zeros, start.length / 2)
  }
  if (isUtf8(bytes) || isUtf8ButForEnd(bytes))
    return TO_JAPANESE.some((mark) => bytes.includes(mark)) ? 'iso-2022-jp' : 'utf-8'
  const sample = linesBeyondAscii(bytes)
  if (isMostlyUtf8(sample)) {
    onGuess('utf-8')
    return 'utf-8'
  }
  const declaration = declaredIn(start.toString('latin1', 0, PROLOG_BYTES))
  if (declaration !== undefined && shareOfText(sample, declaration) >= LIKELY) return declaration
  return guessed(sample, onGuess)
}

async function guessed(sample: Buffer, onGuess: (encoding: string) => void) {
  const { name, confidence } = await likeliest(sample)
  if (name === undefined) return name
  if (confidence >= SURE) {
    if (beyondAsciiIn(sample) < ENOUGH) onGuess(name)
    return name
  }
  // A few letters are in too many encodings to be told apart by how often they occur.
  const guess = isWestern(sample) ? FALLBACK : name
  onGuess(guess)
  return guess
}

const beyondAsciiIn = (sample: Buffer) => sample.reduce((sum, byte) => sum + (byte >> 7), 0)

/** Whether there are few words beyond ASCII, all of which would be of Latin letters, most of them those of ASCII. */
function isWestern(sample: Buffer): boolean {
  const text = new TextDecoder(FALLBACK).decode(sample)
  const words = new Set(wordsIn(text))
  if (words.size > MAX_FEW) return false
  return [...words].every(
    (word) => /^\p{Script=Latin}+$/u.test(word) && countOf(word, /[a-z]/gi) * 2 >= word.length,
  )
}

/** The words with a character beyond ASCII. */
const wordsIn = (text: string) =>
  text.split(/[\0-@[-`{-\x7f]+/).filter((word) => /[^\0-\x7f]/.test(word))

/** Whether signs that no word has are in most words: those of Polish and Slovak, read as Western. */
function hasSignsWithin(text: string): boolean {
  const words = wordsIn(text)
  const odd = words.filter((word) => /\p{L}[£³¹¼¾¿]|[£³¹¼¾¿]\p{L}/u.test(word))
  return odd.length > words.length / 2
}

const countOf = (text: string, sign: RegExp) => text.match(sign)?.length ?? 0

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

/** Among the encodings in which the sample is a text, the one detected with most confidence. */
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
    const isCut = sample.length === SAMPLE_BYTES
    text = new TextDecoder(encoding, { fatal: true }).decode(sample, { stream: isCut })
  } catch {
    return 0
  }
  const excerpt = text.slice(0, TESTED_CHARACTERS)
  if (joinsMost(excerpt) || hasSignsWithin(excerpt)) return 0
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

const MANY_ZEROS = Buffer.alloc(16)

/** Whether it is a text in UTF-8 but for a few zeros, which programs leave between fields and at the end of a file. */
function hasStrayZeros(start: Buffer): boolean {
  const text = Buffer.from(start.filter((byte) => byte !== 0))
  if (start.length - text.length > start.length * MAX_STRAY_ZEROS) return false
  // A program pads what it writes at the end of a file, an archive also between its parts.
  const run = start.indexOf(MANY_ZEROS)
  if (run >= 0 && start.subarray(run).some((byte) => byte !== 0)) return false
  const whole = text.subarray(0, wholeCharacters(text))
  return isUtf8(whole) && !whole.some(isControl)
}

function zerosAt(bytes: Buffer, first: number): number {
  let zeros = 0
  for (let i = first; i < bytes.length; i += 2) if (bytes[i] === 0) zeros++
  return zeros
}

/** If all but the last letter are ASCII, that may be a letter of another encoding. */
function isUtf8ButForEnd(bytes: Buffer): boolean {
  const whole = bytes.subarray(0, wholeCharacters(bytes))
  return whole.length < bytes.length && isUtf8(whole) && !isAscii(whole)
}

/** The length without a last character that is cut off, if it would be one of UTF-8. */
function wholeCharacters(bytes: Buffer): number {
  for (let back = 1; back < MAX_BYTES_PER_CHARACTER && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back] ?? 0
    if (byte >= 0xc0) return byte >= (CUT_OFF[back - 1] ?? 0) ? bytes.length - back : bytes.length
    if (byte < 0x80) return bytes.length
  }
  return bytes.length
}

/** The least first byte of a character of UTF-8 of which only so many bytes are there. */
const CUT_OFF = [0xc0, 0xe0, 0xf0]

/**
 * The lines with characters beyond ASCII, wherever they are, as many as are enough; those that stand first come with all
 * that is around them.
 */
function linesBeyondAscii(bytes: Buffer): Buffer {
  const lines: Buffer[] = []
  let [length, position] = [0, 0]
  while (length < SAMPLE_BYTES) {
    const at = beyondAscii(bytes, position)
    if (at < 0) break
    const before = bytes.lastIndexOf(LINE_FEED, at)
    const from = Math.max(before + 1, position, at - SAMPLE_BYTES / 2)
    const after = bytes.indexOf(LINE_FEED, at)
    const end = Math.min(after < 0 ? bytes.length : after + 1, from + SAMPLE_BYTES)
    lines.push(bytes.subarray(from, end))
    length += end - from
    position = Math.max(end, at + 1)
  }
  return Buffer.concat(lines).subarray(0, SAMPLE_BYTES)
}

const LINE_FEED = 0x0a

function beyondAscii(bytes: Buffer, from: number): number {
  for (let at = from; at < bytes.length; at++) if ((bytes[at] ?? 0) > 0x7f) return at
  return -1
}

/** The share of characters beyond ASCII that may be damaged in a text that is UTF-8 nevertheless. */
const MAX_DAMAGED = 0.1
/** So many characters of UTF-8 do not come about by chance. */
const MIN_WHOLE = 10

function isMostlyUtf8(sample: Buffer): boolean {
  const text = new TextDecoder().decode(sample)
  const damaged = text.match(/\ufffd/g)?.length ?? 0
  const whole = (text.match(/[^\0-\x7f\ufffd]/gu) ?? []).length
  return whole >= MIN_WHOLE && damaged <= (whole + damaged) * MAX_DAMAGED
}

/** Whether it is the name of an encoding that can be read. */
export function isKnown(encoding: string): boolean {
  try {
    return new TextDecoder(encoding) !== undefined
  } catch {
    return false
  }
}

function isText(sample: string): boolean {
  let controls = 0
  for (let i = 0; i < sample.length; i++) {
    if (isControl(sample.charCodeAt(i))) controls++
  }
  return controls <= sample.length * MAX_CONTROLS
}

const isControl = (code: number) => code < 32 && !(code >= 9 && code <= 13) && code !== 27
