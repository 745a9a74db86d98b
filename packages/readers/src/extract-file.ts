import { codeOf } from '@agent-server/lib/system-error.ts'
import {
  type Extracted,
  ExtractionError,
  MAX_CHARACTERS,
  nestedTooDeeply,
  type ReadingWarning,
  type Recognition,
  type SourceFile,
  toCodeBlock,
  tooLong,
  withoutData,
  withPageBreaks,
} from './extracted.ts'
import { extensionOf, kindByName, pictureKind, type TextKind, textKindOf } from './file-kind.ts'
import type { OfficeKind } from './formats/ooxml.ts'
import { type Pictures, picturesWithin } from './pictures.ts'
import {
  isOldWorkbook,
  isOutlookMessage,
  refuseKnown,
  refuseZip,
  startsWith,
  unsupported,
} from './refusals.ts'
import { withoutTerminalCodes } from './terminal-codes.ts'
import { unlockWorkbook } from './unlock-workbook.ts'
import { MAX_DEPTH, type ReadWithin } from './within.ts'
import { openZip, ZIP_MARK, type ZipArchive } from './zip-archive.ts'

const MAX_TABLE_BYTES = 16 * 2 ** 20

/** Extracts the text of a file; its type is detected by content, then by name. Throws `ExtractionError`. */
export async function extractFile(
  file: SourceFile,
  recognition?: Recognition,
  pictures?: Pictures,
): Promise<Extracted> {
  return readFile(file, { recognition, pictures, depth: 0 })
}

async function readFile(file: SourceFile, sight: Sight): Promise<Extracted> {
  try {
    const extracted = withPageBreaks(await extractKnown(file, sight))
    if (extracted.text.length > MAX_CHARACTERS) throw tooLong()
    return extracted
  } catch (error) {
    throw toExtractionError(error)
  }
}

/** What is done with pictures, and with files within the file. */
interface Sight {
  recognition: Recognition | undefined
  pictures: Pictures | undefined
  /** How many files the file is within. */
  depth: number
}

/** Reads a file within a file. */
const withinOf =
  ({ recognition, pictures, depth }: Sight): ReadWithin =>
  async (file, number) => {
    if (depth >= MAX_DEPTH) throw nestedTooDeeply()
    const inner = pictures && picturesWithin(pictures, number)
    return readFile(file, { recognition, pictures: inner, depth: depth + 1 })
  }

type Read<Input> = (input: Input, sight: Sight) => Promise<Extracted>

/** Some programs write a few bytes of their own before the PDF signature. */
const PDF_PREFIX_BYTES = 1_024

interface Format {
  name: string
  fits(content: Buffer): boolean
  read: Read<SourceFile>
}

/** Formats with a signature. Each parser is loaded when the first file needs it. */
const BINARY: readonly Format[] = [
  {
    name: 'image',
    fits: (content) => pictureKind(content) !== undefined,
    async read({ bytes }, { recognition, pictures }) {
      const kind = pictureKind(bytes)
      if (!(recognition || pictures) || !kind) {
        throw unsupported('it is an image, and OCR is disabled')
      }
      return (await import('./formats/image.ts')).extractImage(bytes, kind, recognition, pictures)
    },
  },
  {
    name: 'pdf',
    fits: (content) => content.subarray(0, PDF_PREFIX_BYTES).includes('%PDF-'),
    async read({ bytes }, sight) {
      const { recognition, pictures } = sight
      const { extractPdf } = await import('./formats/pdf.ts')
      return extractPdf(bytes, { recognition, pictures, within: withinOf(sight) })
    },
  },
  {
    name: 'zip',
    fits: (content) => startsWith(content, ZIP_MARK),
    async read({ bytes }, sight) {
      const { mainPartOf } = await import('./formats/ooxml.ts')
      const zip = await openZip(bytes)
      const main = await mainPartOf(zip)
      const usual = main && main.kind in USUAL_PARTS ? USUAL_PARTS[main.kind] : undefined
      const format = ZIPPED.find(({ part }) => part === usual || zip.has(part))
      if (!format) throw refuseZip(zip)
      return format.read({ bytes, zip, main: main?.path ?? format.part }, sight)
    },
  },
  {
    name: 'message',
    fits: isOutlookMessage,
    async read(file, sight) {
      const { outlookToMail } = await import('./formats/outlook.ts')
      return readMail({ ...file, bytes: await outlookToMail(file.bytes) }, sight)
    },
  },
  {
    name: 'xls',
    fits: isOldWorkbook,
    async read({ bytes }) {
      const { partsOfXls } = await import('./formats/sheet-parts.ts')
      const { extractWorkbook } = await import('./formats/xlsx.ts')
      return extractWorkbook(bytes, await partsOfXls(bytes))
    },
  },
  {
    name: 'rtf',
    fits: (content) => startsWith(content, Buffer.from('{\\rtf')),
    read: async ({ bytes }) => (await import('./formats/rtf.ts')).extractRtf(bytes),
  },
  {
    name: 'parquet',
    fits: (content) => startsWith(content, Buffer.from('PAR1')),
    read: async (file) => (await import('./formats/parquet.ts')).extractParquet(file),
  },
]

interface ZippedFile {
  bytes: Buffer
  zip: ZipArchive
  /** The path of its main part. */
  main: string
}

/** What the main parts of Office files are usually called, by their kind. */
const USUAL_PARTS: Record<OfficeKind, string> = {
  word: 'word/document.xml',
  presentation: 'ppt/presentation.xml',
  workbook: 'xl/workbook.xml',
  'binary workbook': 'xl/workbook.bin',
}

/** Formats that are ZIP archives, by a part that each of them has. */
const ZIPPED: readonly { part: string; read: Read<ZippedFile> }[] = [
  {
    part: 'word/document.xml',
    async read({ zip, main }, sight) {
      await zip.verify()
      const { extractDocx } = await import('./formats/docx.ts')
      return extractDocx(zip, main, await seePicture(sight), withinOf(sight))
    },
  },
  {
    part: 'ppt/presentation.xml',
    async read({ zip, main }, sight) {
      await zip.verify()
      const { extractPptx } = await import('./formats/pptx.ts')
      return extractPptx(zip, main, await seePicture(sight), withinOf(sight))
    },
  },
  {
    part: 'xl/workbook.xml',
    async read({ bytes, zip, main }, sight) {
      await zip.verify()
      const { createShowEntry } = await import('./formats/image.ts')
      const { partsOfXlsx, sheetPaths } = await import('./formats/sheet-parts.ts')
      const { formulasOfXlsx } = await import('./formats/workbook-formulas.ts')
      const { extractWorkbook } = await import('./formats/xlsx.ts')
      const { embeddedIn } = await import('./formats/ooxml-embedded.ts')
      const show = createShowEntry(await seePicture(sight), zip)
      const paths = await sheetPaths(zip, main)
      const parts = await partsOfXlsx(zip, paths)
      const formulas = await formulasOfXlsx(zip, paths, main)
      const extracted = await extractWorkbook(bytes, parts, show, formulas)
      const sheets = [...paths.values()]
      return {
        ...extracted,
        text: extracted.text + (await embeddedIn(zip, sheets, withinOf(sight))),
      }
    },
  },
  {
    part: 'xl/workbook.bin',
    async read({ bytes, zip, main }, sight) {
      await zip.verify()
      const { createShowEntry } = await import('./formats/image.ts')
      const { partsOfXlsb } = await import('./formats/sheet-parts.ts')
      const { extractWorkbook } = await import('./formats/xlsx.ts')
      const show = createShowEntry(await seePicture(sight), zip)
      return extractWorkbook(bytes, await partsOfXlsb(bytes, zip, main), show)
    },
  },
  {
    part: 'META-INF/container.xml',
    read: async ({ zip }, sight) =>
      (await import('./formats/epub.ts')).extractEpub(zip, await seePicture(sight)),
  },
  {
    part: 'content.xml',
    async read({ bytes, zip }, sight) {
      await zip.verify()
      const { extractOpenDocument } = await import('./formats/opendocument.ts')
      return extractOpenDocument(bytes, zip, await seePicture(sight))
    },
  },
]

async function seePicture(sight: Sight) {
  return (await import('./formats/image.ts')).createSeePicture(sight, pictureKind)
}

interface TextFile extends SourceFile {
  /** The beginning of the file. */
  text: string
  isCut: boolean
}

async function readMail({ bytes }: SourceFile, sight: Sight): Promise<Extracted> {
  const { extractMail } = await import('./formats/mail.ts')
  return extractMail(bytes, { see: await seePicture(sight), extract: withinOf(sight) })
}

const TEXTS: Record<TextKind, Read<TextFile>> = {
  async html({ text }, sight) {
    const { createShowPicture, dataOf } = await import('./formats/image.ts')
    const { extractHtml } = await import('./formats/html.ts')
    return extractHtml(text, createShowPicture(await seePicture(sight), dataOf))
  },
  mail: readMail,
  async mailbox({ bytes }, sight) {
    const { extractMailbox } = await import('./formats/mail.ts')
    return extractMailbox(bytes, { see: await seePicture(sight), extract: withinOf(sight) })
  },
  notebook: async ({ text }) => (await import('./formats/notebook.ts')).extractNotebook(text),
  async book({ text }, sight) {
    const { extractFictionBook } = await import('./formats/fiction-book.ts')
    return extractFictionBook(text, await seePicture(sight))
  },
  cards: async ({ text }) => (await import('./formats/cards.ts')).extractCards(text),
  json: async ({ text }) => (await import('./formats/json.ts')).extractJson(text),
  csv: async ({ text, isCut, name }) =>
    (await import('./formats/csv.ts')).extractCsv(text, isCut, name),
  code: async ({ text, name }) => ({ text: toCodeBlock(text, extensionOf(name)) }),
  markdown: async ({ text }) => ({ text: withoutData(text) }),
  // Programs colour what they log.
  text: async ({ text }) => ({ text: withoutTerminalCodes(text) }),
}

/** Kinds whose parts each have an encoding, so that a guess at one of the whole file says nothing. */
const IN_PARTS = new Set<TextKind>(['mail', 'mailbox'])

async function extractKnown(sent: SourceFile, sight: Sight): Promise<Extracted> {
  const file = { ...sent, bytes: await unlockWorkbook(sent.bytes) }
  const format = formatOf(file.bytes)
  if (format) return format.read(file, sight)
  // The beginning of a table is enough: the agent's tools read the whole table.
  const maxBytes = kindByName(file.name) === 'csv' ? MAX_TABLE_BYTES : file.bytes.length
  const { decodeText, uncertainEncoding } = await import('./decode-text.ts')
  const warnings: ReadingWarning[] = []
  const text = await decodeText(file.bytes.subarray(0, maxBytes), (encoding) =>
    warnings.push(uncertainEncoding(encoding)),
  )
  if (text === undefined) throw unsupported('it is neither a document nor text')
  const isCut = file.bytes.length > maxBytes
  const kind = textKindOf(text, file.name, file.mediaType)
  const extracted = await TEXTS[kind]({ ...file, text, isCut }, sight)
  const all = [...(extracted.warnings ?? []), ...(IN_PARTS.has(kind) ? [] : warnings)]
  return all.length > 0 ? { ...extracted, warnings: all } : extracted
}

/**
 * A `RangeError` is caused by a file that is nested too deeply, or too large for one string or array. Anything else
 * that a parser throws is blamed on the file, except what only a bug of this program can cause.
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
  return ['ERR_ACCESS_DENIED', 'ERR_MODULE_NOT_FOUND'].includes(codeOf(error) ?? '')
}

/**
 * The format that the first bytes of a file show; undefined for text. Throws `encrypted_file` and `unsupported_file` for
 * known types that are not read.
 */
export function formatOf(content: Buffer): Format | undefined {
  const format = BINARY.find(({ fits }) => fits(content))
  if (format) return format
  refuseKnown(content)
  return undefined
}
