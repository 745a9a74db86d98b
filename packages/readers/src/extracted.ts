import { PAGE_BREAK } from '@agent-server/lib/text/page-break.ts'
import type { PictureFile } from './pictures.ts'

/** Something that could not be read, or only with doubt. */
export interface ReadingWarning {
  code: string
  message: string
}

/** Pictures or pages that a warning names. */
const MAX_NAMED = 100

/** A warning that names what it is about, unless there is nothing. */
export function warningOf(code: string, what: string, places: readonly string[]): ReadingWarning[] {
  if (places.length === 0) return []
  const more = places.length - MAX_NAMED
  const names = `${places.slice(0, MAX_NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
  return [{ code, message: `${what}: ${names}` }]
}

/** What was read out of a file. */
export interface Extracted {
  /** Markdown if the file has headings, tables or lists; else plain text. */
  text: string
  /** Where each page begins in `text`, in UTF-16 code units; absent if the file has no pages. */
  pageStarts?: number[]
  /** How many of the tables in the text can be queried. */
  tables?: number
  warnings?: readonly ReadingWarning[]
}

/** A file that was read in a process of its own. */
export interface ReadText extends Omit<Extracted, 'text'> {
  warnings: readonly ReadingWarning[]
  /** The length of the text, in UTF-16 code units. */
  length: number
  /** The text, to be read once: whole if it is short, otherwise piece by piece from the process, which keeps it. */
  pieces: Iterable<string> | AsyncIterable<string>
  /** Call when the text is no longer needed. */
  close(): void
}

/** What is known of a file before its bytes are read. */
export interface UnreadFile {
  name: string
  mediaType: string
  /** Bytes. */
  size: number
}

/** A file to be read, held completely in memory by the process that reads it. */
export interface SourceFile {
  name: string
  mediaType: string
  bytes: Buffer
}

/** What recognises text in images. */
export type OcrEngine =
  /**
   * Languages by their codes, as used in the names of the data packages. `ppOcr` is the directory of PP-OCR, if it is
   * installed, which reads what is doubtful.
   */
  | { kind: 'tesseract'; languages: readonly string[]; ppOcr?: string | undefined }
  /** The directory of the package with its models. */
  | { kind: 'pp-ocr'; directory: string }

export interface Recogniser {
  /** Reads a PNG, JPEG, WebP, BMP or PNM, even if it is rotated or skewed. Throws `damaged_file`. */
  read(picture: Uint8Array): Promise<Recognised>
}

export interface Recognised {
  /** Empty if it could not be read with confidence. */
  text: string
  /** Whether there is text that could not be read with confidence. */
  isUnreadable: boolean
  /** Whether many words of the text are guesses, or in no dictionary of the language. */
  isDoubtful?: boolean
}

/** How text in images is recognised. */
export interface Recognition {
  engine: OcrEngine
  /** Called before each page that is an image. */
  onPage(): void
  /** Called with a description of what could not be read with confidence, such as `page 7`. */
  onUnreadable(what: string): void
  /** Called with a description of what was read, but probably wrong. */
  onDoubtful?(what: string): void
}

/** UTF-16 code units. More would take the process that reads a file more memory than it may have. */
export const MAX_CHARACTERS = 50_000_000

export type BoundedText = ReturnType<typeof createBoundedText>

/** Collects a text of limited length. */
export function createBoundedText(maxCharacters = MAX_CHARACTERS) {
  const parts: string[] = []
  let length = 0
  return {
    /** Throws `text_too_long` if the text would exceed the limit. */
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
    `The file contains more than ${millions} million characters of text: send it in parts`,
  )
}

/** Puts a page break between the pages of a text. */
export function withPageBreaks(extracted: Extracted): Extracted {
  const { text, pageStarts: starts } = extracted
  if (!starts) return extracted
  const pages = starts.map((start, page) => text.slice(page === 0 ? 0 : start, starts[page + 1]))
  return {
    ...extracted,
    text: pages.join(PAGE_BREAK),
    pageStarts: starts.map((start, page) => start + page * PAGE_BREAK.length),
  }
}

/** Why a file has no text to index. All but the timeout are caused by the file itself, so a retry fails again. */
type ExtractionCode =
  | 'empty_document'
  | 'unsupported_file'
  | 'encrypted_file'
  | 'damaged_file'
  | 'file_too_complex'
  | 'text_too_long'
  | 'extraction_timeout'

/** A file that cannot be read. The message is shown to the file's owner. */
export class ExtractionError extends Error {
  override readonly name = 'ExtractionError'
  readonly code: ExtractionCode

  constructor(code: ExtractionCode, message: string, cause?: unknown) {
    super(message, { cause })
    this.code = code
  }
}

export function passwordProtected(cause?: unknown): ExtractionError {
  return new ExtractionError('encrypted_file', 'The file is protected with a password', cause)
}

export function nestedTooDeeply(): ExtractionError {
  return new ExtractionError('file_too_complex', 'The file is nested too deeply')
}

/** Line breaks and runs of blanks become a space each. */
export const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ').trim()

/** What somebody said about the text, in brackets, so that nobody takes it for the text. */
export const commentBy = (author: string, text: string) =>
  `[Comment${author && ` by ${author}`}: ${text}]`

/** Formats a text as a code block, so that no line is taken for a heading; the fence is longer than any inside. */
export function toCodeBlock(text: string, language: string): string {
  let longest = 2
  for (const [run] of text.matchAll(/^`{3,}/gm)) longest = Math.max(longest, run.length)
  const fence = '`'.repeat(longest + 1)
  return `${fence}${language}\n${withoutLastBreaks(text)}\n${fence}\n`
}

/** Without a pattern, which would look for the end at each of many line breaks. */
function withoutLastBreaks(text: string): string {
  let end = text.length
  while (end > 0 && text[end - 1] === '\n') end--
  return text.slice(0, end)
}

/** Pictures in the text itself, of which nobody reads the letters. */
const DATA_URI = /data:[\w/+.-]{1,80};base64,[\w+/=]{100,}/g
export const withoutData = (text: string) => text.replaceAll(DATA_URI, '')

/** Formats rows as a Markdown table, whose head is the first of them. Line breaks in a cell become spaces. */
export function toMarkdownTable(rows: readonly (readonly string[])[]): string {
  const [head = '', ...more] = rows.map((row) => {
    const cells = row.map((cell) => oneLine(cell.replaceAll('|', '/')))
    return `| ${cells.join(' | ')} |`
  })
  return [head, `|${' --- |'.repeat(rows[0]?.length ?? 0)}`, ...more].join('\n')
}

/** Formats lines as a Markdown list. */
export const toMarkdownList = (lines: readonly string[]) =>
  lines.map((line) => `- ${line}`).join('\n')

export interface ReadingOptions {
  ocr?: OcrEngine | undefined
  /** Whether the text is to have marks for pictures; or the marks of those that are wanted instead of the text. */
  pictures?: boolean | readonly string[] | undefined
}

/** Messages to the reading process for a file: its properties, its bytes in order, the end, and for more of its text. */
export type ToReader =
  | ({ kind: 'begin' } & UnreadFile & ReadingOptions)
  | { kind: 'piece'; bytes: Uint8Array }
  | { kind: 'end' }
  | { kind: 'more' }

/** Messages from the reading process: the text unless it is long, or why there is none; `cause` is for the log. */
export type FromReader =
  /** Sent before a page is recognised, which may take as long as a whole file; `page` counts such pages. */
  | { kind: 'page'; page: number }
  /** Sent for each picture that is wanted, before the text, which is then empty. */
  | ({ kind: 'picture' } & PictureFile)
  | ({ kind: 'extracted'; text: string | undefined } & Omit<ReadText, 'pieces' | 'close'>)
  /** The next piece of a text that is too long for one message. */
  | { kind: 'piece'; text: string }
  | { kind: 'refused'; code: ExtractionCode; message: string; cause: string | undefined }
