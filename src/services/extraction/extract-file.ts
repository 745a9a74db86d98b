import { tooLong } from './bounded-text.ts'
import { decodeText } from './decode-text.ts'
import { type Extracted, MOST_CHARACTERS, type SourceFile } from './extracted.ts'
import { ExtractionError } from './extraction-error.ts'
import { fenced } from './fenced.ts'
import { extensionOf, type FileKind, kindByName } from './file-kind.ts'
import { signatureOf, unsupported } from './signatures.ts'
import { textKindOf } from './text-kind.ts'
import { openZip, type ZipArchive } from './zip-archive.ts'

const MOST_TABLE_BYTES = 16 * 2 ** 20

/** The text of a file, which is recognised by what it holds and then by its name. Throws `ExtractionError` only. */
export async function extractFile(file: SourceFile): Promise<Extracted> {
  try {
    const extracted = await extractKnown(file)
    if (extracted.text.length > MOST_CHARACTERS) throw tooLong()
    return extracted
  } catch (error) {
    throw toExtractionError(error)
  }
}

async function extractKnown(file: SourceFile): Promise<Extracted> {
  const signature = signatureOf(file.bytes)
  switch (signature) {
    case 'pdf':
      return (await import('./formats/pdf.ts')).extractPdf(file.bytes)
    case 'zip':
      return extractZip(file, await openZip(file.bytes))
    case 'parquet':
      return (await import('./formats/parquet.ts')).extractParquet(file)
    case 'none':
      return extractText(file)
    default:
      return signature satisfies never
  }
}

/** Each parser is loaded when the first file needs it. */
async function extractZip(file: SourceFile, zip: ZipArchive): Promise<Extracted> {
  const kind = zipKindOf(zip)
  if (kind === undefined) throw unsupported('it is an archive: send the files in it one by one')
  if (kind === 'epub') return (await import('./formats/epub.ts')).extractEpub(zip)
  await zip.verify()
  if (kind === 'docx') return (await import('./formats/docx.ts')).extractDocx(file.bytes)
  if (kind === 'pptx') return (await import('./formats/pptx.ts')).extractPptx(zip)
  return (await import('./formats/xlsx.ts')).extractXlsx(file.bytes)
}

function zipKindOf(zip: ZipArchive): FileKind | undefined {
  if (zip.has('word/document.xml')) return 'docx'
  if (zip.has('ppt/presentation.xml')) return 'pptx'
  if (zip.has('xl/workbook.xml')) return 'xlsx'
  return zip.has('META-INF/container.xml') ? 'epub' : undefined
}

async function extractText(file: SourceFile): Promise<Extracted> {
  // Of a table the beginning is enough: the agent's tools read the whole of it.
  const most = kindByName(file.name) === 'csv' ? MOST_TABLE_BYTES : file.bytes.length
  const text = decodeText(file.bytes.subarray(0, most))
  if (text === undefined) throw unsupported('it is neither a document nor text')
  const kind = textKindOf(text, file.name)
  switch (kind) {
    case 'html':
      return (await import('./formats/html.ts')).extractHtml(text)
    case 'mail':
      return (await import('./formats/mail.ts')).extractMail(file.bytes, extractFile)
    case 'json':
      return (await import('./formats/json.ts')).extractJson(text)
    case 'csv':
      return (await import('./formats/csv.ts')).extractCsv(text, file.bytes.length > most)
    case 'code':
      return { text: fenced(text, extensionOf(file.name)) }
    case 'markdown':
    case 'text':
      return { text }
    default:
      return kind satisfies never
  }
}

/** Running out of stack or of room for one string or list is what nesting and size without measure lead to. */
function toExtractionError(error: unknown): ExtractionError {
  if (error instanceof ExtractionError) return error
  if (error instanceof RangeError) {
    return new ExtractionError(
      'file_too_complex',
      'The file is nested too deeply or too large',
      error,
    )
  }
  return new ExtractionError('damaged_file', 'The file cannot be read: it is damaged', error)
}
