import { mediaTypeOf, UNKNOWN_MEDIA_TYPE } from '../../lib/media-types.ts'
import { parseJson } from '../../lib/text/json.ts'
import {
  type Extracted,
  ExtractionError,
  fenced,
  MAX_CHARACTERS,
  type Recognition,
  type SourceFile,
  tooLong,
} from './extracted.ts'
import type { PictureKind } from './formats/image.ts'
import { openZip, ZIP_MARK, type ZipArchive } from './zip-archive.ts'

const MAX_TABLE_BYTES = 16 * 2 ** 20

/** The text of a file, which is recognised by what it holds and then by its name. Throws `ExtractionError`. */
export async function extractFile(file: SourceFile, recognition?: Recognition): Promise<Extracted> {
  try {
    const extracted = await extractKnown(file, recognition)
    if (extracted.text.length > MAX_CHARACTERS) throw tooLong()
    return extracted
  } catch (error) {
    throw toExtractionError(error)
  }
}

async function extractKnown(file: SourceFile, recognition?: Recognition): Promise<Extracted> {
  const picture = pictureKind(file.bytes)
  if (picture) {
    if (!recognition) throw unsupported('it is an image, and OCR is off')
    return (await import('./formats/image.ts')).extractImage(file.bytes, picture, recognition)
  }
  switch (signatureOf(file.bytes)) {
    case 'pdf':
      return (await import('./formats/pdf.ts')).extractPdf(file.bytes, recognition)
    case 'zip':
      return extractZip(file, await openZip(file.bytes), recognition)
    case 'parquet':
      return (await import('./formats/parquet.ts')).extractParquet(file)
    case 'none':
      return extractText(file, recognition)
  }
}

/** Each parser is loaded when the first file needs it. */
async function extractZip(
  file: SourceFile,
  zip: ZipArchive,
  recognition: Recognition | undefined,
): Promise<Extracted> {
  const kind = zipKindOf(zip)
  if (kind === undefined) throw unsupported('it is an archive: send the files in it one by one')
  if (kind === 'epub') return (await import('./formats/epub.ts')).extractEpub(zip)
  await zip.verify()
  if (kind === 'xlsx') return (await import('./formats/xlsx.ts')).extractXlsx(file.bytes)
  const see = (await import('./formats/image.ts')).createSeePicture(recognition, pictureKind)
  if (kind === 'docx') return (await import('./formats/docx.ts')).extractDocx(file.bytes, see)
  return (await import('./formats/pptx.ts')).extractPptx(zip, see)
}

function zipKindOf(zip: ZipArchive) {
  if (zip.has('word/document.xml')) return 'docx'
  if (zip.has('ppt/presentation.xml')) return 'pptx'
  if (zip.has('xl/workbook.xml')) return 'xlsx'
  return zip.has('META-INF/container.xml') ? 'epub' : undefined
}

async function extractText(file: SourceFile, recognition?: Recognition): Promise<Extracted> {
  // Of a table the beginning is enough: the agent's tools read the whole of it.
  const maxBytes = kindByName(file.name) === 'csv' ? MAX_TABLE_BYTES : file.bytes.length
  const { decodeText } = await import('./decode-text.ts')
  const text = decodeText(file.bytes.subarray(0, maxBytes))
  if (text === undefined) throw unsupported('it is neither a document nor text')
  switch (textKindOf(text, file.name)) {
    case 'html':
      return (await import('./formats/html.ts')).extractHtml(text)
    case 'mail':
      return (await import('./formats/mail.ts')).extractMail(file.bytes, (attachment) =>
        extractFile(attachment, recognition),
      )
    case 'json':
      return (await import('./formats/json.ts')).extractJson(text)
    case 'csv':
      return (await import('./formats/csv.ts')).extractCsv(text, file.bytes.length > maxBytes)
    case 'code':
      return { text: fenced(text, extensionOf(file.name)) }
    case 'markdown':
    case 'text':
      return { text }
  }
}

/**
 * A `RangeError` comes of a file that nests too deeply, or is too large for one string or list. Whatever else a parser
 * throws is taken for the file's fault, except what only a mistake of this program can cause.
 */
function toExtractionError(error: unknown): unknown {
  if (error instanceof ExtractionError || isOwnMistake(error)) return error
  if (error instanceof RangeError) {
    return new ExtractionError(
      'file_too_complex',
      'The file is nested too deeply or too large',
      error,
    )
  }
  return new ExtractionError('damaged_file', 'The file cannot be read: it is damaged', error)
}

function isOwnMistake(error: unknown): boolean {
  if (error instanceof ReferenceError) return true
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return code === 'ERR_ACCESS_DENIED' || code === 'ERR_MODULE_NOT_FOUND'
}

/** How a file is read. `code` keeps its lines as they are. */
type TextKind = 'html' | 'markdown' | 'mail' | 'csv' | 'json' | 'code' | 'text'

const EXTENSIONS: readonly (readonly [TextKind, string])[] = [
  [
    'code',
    `asm awk bash bat bib c cc cfg clj cljs cmake cpp cs css cxx dart diff dockerfile el elm erl ex exs f90
    fs fsx go gradle graphql groovy h hpp hrl hs ini ipynb java jl js jsx kt kts less lisp lua m mak makefile
    mjs cjs ml mli mts cts nim nix pas patch php pl pm properties proto ps1 py pyi r rb rs sass scala scm scss
    sh sol sql svelte swift tcl tex tf toml ts tsx v vb vhd vim vue xml xsd xsl yaml yml zig zsh`,
  ],
  ['html', 'html htm xhtml mhtml'],
  ['markdown', 'md markdown mdx rst adoc'],
  ['csv', 'csv tsv tab'],
  ['json', 'json jsonl ndjson geojson'],
  ['mail', 'eml'],
]

const KIND_BY_EXTENSION: ReadonlyMap<string, TextKind> = new Map(
  EXTENSIONS.flatMap(([kind, names]) => names.split(/\s+/).map((name) => [name, kind] as const)),
)

const MEDIA_TYPE = /^[\w.+-]{1,60}\/[\w.+-]{1,100}$/

/** What the name says of a text; nothing where it says nothing. */
export function kindByName(name: string): TextKind | undefined {
  return KIND_BY_EXTENSION.get(extensionOf(name))
}

/** In small letters and without the point; the whole name where it has none (`Makefile`). */
export function extensionOf(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1).toLowerCase()
}

/** What the client says, if that is something; else what the name says. */
export function mediaTypeOfUpload(name: string, declared: string | undefined): string {
  const said = declared?.split(';')[0]?.trim().toLowerCase() ?? ''
  if (said !== UNKNOWN_MEDIA_TYPE && MEDIA_TYPE.test(said)) return said
  const named = kindByName(name) === 'code' ? UNKNOWN_MEDIA_TYPE : mediaTypeOf(name)
  return named === UNKNOWN_MEDIA_TYPE && kindByName(name) ? 'text/plain' : named
}

/** The mark of a page and the headers of a mail are looked for in so much of a text. */
const HTML_PREFIX = 1_024
const HEADERS_PREFIX = 16_384
const HTML = /^\s*(?:<\?xml[^>]*>\s*)?(?:<!--[\s\S]{0,500}?-->\s*)?<(?:!doctype\s+html|html)[\s>]/i
const HEADER_LINE = /^[A-Za-z][\w-]{0,70}:[ \t]/
/** A mail has one of these lines at least, besides its sender's. */
const MAIL_HEADER = /^(?:Message-ID|MIME-Version|Received|Date|Return-Path):/im

/** What a text is: by what it holds where that is certain, else by its name, else plain. */
export function textKindOf(text: string, name: string): TextKind {
  const named = kindByName(name)
  // A program may well hold a page or a record of another kind.
  if (named === 'code' || named === 'markdown') return named
  if (HTML.test(text.slice(0, HTML_PREFIX))) return 'html'
  if (isMail(text)) return 'mail'
  if (named === 'mail' || named === 'html') return 'text'
  return named ?? (isJson(text) ? 'json' : 'text')
}

function isMail(text: string): boolean {
  const head = text.slice(0, HEADERS_PREFIX).split('\n\n', 1)[0] ?? ''
  return HEADER_LINE.test(head) && /^From:/im.test(head) && MAIL_HEADER.test(head)
}

function isJson(text: string): boolean {
  return /^\s*[[{]/.test(text) && parseJson(text) !== undefined
}

/** What a file is by its first bytes. A text has no such mark. */
type Signature = 'pdf' | 'zip' | 'parquet' | 'none'

const bytes = (...values: number[]) => Buffer.from(values)

/** Images whose text can be recognised. */
function pictureKind(content: Buffer): PictureKind | undefined {
  if (startsWith(content, Buffer.from('RIFF'))) {
    return content.toString('latin1', 8, 12) === 'WEBP' ? 'webp' : undefined
  }
  const isBitmap = startsWith(content, Buffer.from('BM')) && content.length > 26
  if (isBitmap && content.readUInt32LE(2) === content.length) return 'bmp'
  return PICTURE_MARKS.find(([, mark]) => startsWith(content, mark))?.[0]
}

const PICTURE_MARKS: readonly (readonly [PictureKind, Buffer])[] = [
  ['png', bytes(0x89, 0x50, 0x4e, 0x47)],
  ['jpeg', bytes(0xff, 0xd8, 0xff)],
  ['gif', Buffer.from('GIF8')],
  ['tiff', bytes(0x49, 0x49, 0x2a, 0)],
  ['tiff', bytes(0x4d, 0x4d, 0, 0x2a)],
]

/** What is recognised only to be refused with a better reason. */
export const REFUSED: readonly (readonly [string, Buffer])[] = [
  ['a Windows program', Buffer.from('MZ')],
  ['a program', bytes(0x7f, 0x45, 0x4c, 0x46)],
  ['a program', bytes(0xcf, 0xfa, 0xed, 0xfe)],
  ['a program', bytes(0xca, 0xfe, 0xba, 0xbe)],
  ['a WebAssembly module', bytes(0, 0x61, 0x73, 0x6d)],
  ['a compressed archive', bytes(0x1f, 0x8b)],
  ['a compressed archive', Buffer.from('BZh')],
  ['a compressed archive', bytes(0xfd, 0x37, 0x7a, 0x58, 0x5a)],
  ['a compressed archive', bytes(0x28, 0xb5, 0x2f, 0xfd)],
  ['a compressed archive', bytes(0x37, 0x7a, 0xbc, 0xaf)],
  ['a compressed archive', Buffer.from('Rar!')],
  ['an empty ZIP archive', bytes(0x50, 0x4b, 5, 6)],
  ['sound or a video', Buffer.from('RIFF')],
  ['sound', Buffer.from('ID3')],
  ['sound', Buffer.from('OggS')],
  ['a database', Buffer.from('SQLite format 3')],
  ['a PostScript program', Buffer.from('%!PS')],
  ['rich text (RTF): save it as DOCX', Buffer.from('{\\rtf')],
]

const OFFICE_97 = bytes(0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1)
/** Office programs put what they encrypt into a container of the old format, in an entry of this name. */
const ENCRYPTED_ENTRY = Buffer.from('EncryptedPackage', 'utf16le')
/** Some programs write a few bytes of their own before the mark of a PDF. */
const PDF_PREFIX_BYTES = 1_024

/** Throws `encrypted_file` and `unsupported_file` for what is known and not read. */
export function signatureOf(content: Buffer): Signature {
  if (content.subarray(0, PDF_PREFIX_BYTES).includes('%PDF-')) return 'pdf'
  if (startsWith(content, ZIP_MARK)) return 'zip'
  if (startsWith(content, Buffer.from('PAR1'))) return 'parquet'
  if (startsWith(content, OFFICE_97)) throw refuseOffice97(content)
  const [kind] = REFUSED.find(([, mark]) => startsWith(content, mark)) ?? []
  if (kind !== undefined) throw unsupported(`it is ${kind}`)
  return 'none'
}

function unsupported(why: string): ExtractionError {
  return new ExtractionError('unsupported_file', `Files of this type are not read: ${why}`)
}

function refuseOffice97(content: Buffer): ExtractionError {
  if (content.includes(ENCRYPTED_ENTRY)) {
    return new ExtractionError('encrypted_file', 'The file is protected with a password')
  }
  return unsupported('it is of Office 97 to 2003: save it as DOCX, XLSX or PPTX')
}

function startsWith(content: Buffer, mark: Buffer): boolean {
  return content.subarray(0, mark.length).equals(mark)
}
