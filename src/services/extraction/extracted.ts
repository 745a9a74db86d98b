import { atCodePoint } from '../../lib/markdown/characters.ts'
import type { DocumentWarning } from '../../schemas/document.ts'

/** What was read out of a file. */
export interface Extracted {
  /** Markdown where the file has headings, tables or lists; else plain text. */
  text: string
  /** Where each page begins in `text`, in UTF-16 code units; absent where the file has no pages. */
  pageStarts?: number[]
}

/** The same as the server gets it: a long text is nowhere whole. */
export interface ReadText {
  /** In order; none divides a character. Whoever reads a piece takes it. */
  pieces: ReturnType<typeof ownPacked>[]
  /** Of all pieces, in UTF-16 code units. */
  characters: number
  pageStarts?: readonly number[]
  warnings: readonly DocumentWarning[]
}

/** A file that is to be read, whole in the memory of the process that reads it. */
export interface SourceFile {
  name: string
  mediaType: string
  bytes: Buffer
}

/** How text in pictures is recognised. */
export interface Recognition {
  /** As their data packages name them. */
  languages: readonly string[]
  /** Called before each page that is a picture. */
  onPage(): void
  /** Called with what could not be read with confidence: `page 7`. */
  onUnreadable(what: string): void
}

/** A longer text belongs into several documents: a hit tells where in a document it stands. */
export const MAX_CHARACTERS = 10_000_000

export type BoundedText = ReturnType<typeof createBoundedText>

/** Gathers a text that can only become so long. */
export function createBoundedText(maxCharacters = MAX_CHARACTERS) {
  const parts: string[] = []
  let length = 0
  return {
    /** Throws `text_too_long` where it would be. */
    add(text: string): void {
      length += text.length
      if (length > maxCharacters) throw tooLong()
      parts.push(text)
    },
    get length() {
      return length
    },
    toString: () => parts.join(''),
  }
}

export function tooLong(): ExtractionError {
  const millions = MAX_CHARACTERS / 1_000_000
  return new ExtractionError(
    'text_too_long',
    `The file holds more than ${millions} million characters of text: send it in parts`,
  )
}

/** Short enough that the copies made when it goes from process to process take little memory. */
const MAX_PIECE_CHARACTERS = 65_536

/** The pieces of a text, in order; none divides a character. */
export function* cutText(text: string, maxLength = MAX_PIECE_CHARACTERS): Generator<string> {
  for (let start = 0; start < text.length; ) {
    const end = atCodePoint(text, start + maxLength)
    yield text.slice(start, end)
    start = end
  }
}

const BEYOND_LATIN_1 = /[^\0-\xff]/

/** A text beside the JavaScript heap, where its memory is given back at once and not when V8 sees fit. */
interface PackedText {
  encoding: 'latin1' | 'utf16le'
  bytes: Uint8Array
}

/** Any text, half a surrogate pair included. */
export function packText(text: string): PackedText {
  const encoding = BEYOND_LATIN_1.test(text) ? 'utf16le' : 'latin1'
  return { encoding, bytes: Buffer.from(text, encoding) }
}

/** How many UTF-16 code units it is. */
export function lengthOf({ encoding, bytes }: PackedText): number {
  return encoding === 'latin1' ? bytes.length : bytes.length / 2
}

/** The same with memory of its own, which `takeText` gives back. */
export function ownPacked({ encoding, bytes }: PackedText) {
  return { encoding, bytes: Uint8Array.from(bytes) }
}

/** The text, whose packed memory is gone afterwards. */
export function takeText({ encoding, bytes }: ReturnType<typeof ownPacked>): string {
  const text = Buffer.from(bytes.buffer).toString(encoding)
  bytes.buffer.transfer(0)
  return text
}

/** Why a file has no text to index. All but the time are the file's own fault, and will be so again. */
type ExtractionCode =
  | 'empty_document'
  | 'unsupported_file'
  | 'encrypted_file'
  | 'damaged_file'
  | 'file_too_complex'
  | 'text_too_long'
  | 'extraction_timeout'

/** A file that cannot be read. The message is shown to its owner. */
export class ExtractionError extends Error {
  override readonly name = 'ExtractionError'
  readonly code: ExtractionCode

  constructor(code: ExtractionCode, message: string, cause?: unknown) {
    super(message, { cause })
    this.code = code
  }
}

/** As a block of code, so that no line of it is taken for a heading; the fence is longer than any within. */
export function fenced(text: string, language: string): string {
  const longest = Math.max(2, ...Array.from(text.matchAll(/^`{3,}/gm), ([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}${language}\n${text.replace(/\n+$/, '')}\n${fence}\n`
}

/** What the reading process is sent for a file: its beginning, its bytes in order, and then that these were all. */
export type ToReader =
  | { kind: 'begin'; name: string; mediaType: string; size: number; languages: readonly string[] }
  | { kind: 'piece'; bytes: Uint8Array }
  | { kind: 'end' }

/** What it answers: the text in order, and that this was all of it, or why there is none; `cause` is for the log. */
export type FromReader =
  | { kind: 'text'; text: PackedText }
  /** One more page is being recognised, which may take as long as a file does; how many there were with it. */
  | { kind: 'page'; page: number }
  | { kind: 'extracted'; pageStarts: number[] | undefined; warnings: DocumentWarning[] }
  | { kind: 'refused'; code: ExtractionCode; message: string; cause: string | undefined }
