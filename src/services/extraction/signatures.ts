import { ExtractionError } from './extraction-error.ts'

/** What a file is by its first bytes. A text has no such mark. */
export type Signature = 'pdf' | 'zip' | 'parquet' | 'none'

const bytes = (...values: number[]) => Buffer.from(values)

/** What is told apart only to be refused with a better reason. */
const REFUSED: readonly (readonly [string, Buffer])[] = [
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
  ['an image', bytes(0x89, 0x50, 0x4e, 0x47)],
  ['an image', bytes(0xff, 0xd8, 0xff)],
  ['an image', Buffer.from('GIF8')],
  ['an image', bytes(0x49, 0x49, 0x2a, 0)],
  ['an image', bytes(0x4d, 0x4d, 0, 0x2a)],
  ['sound, a video or an image', Buffer.from('RIFF')],
  ['sound', Buffer.from('ID3')],
  ['sound', Buffer.from('OggS')],
  ['a database', Buffer.from('SQLite format 3')],
  ['a PostScript program', Buffer.from('%!PS')],
  ['rich text (RTF): save it as DOCX', Buffer.from('{\\rtf')],
]

/** So many first bytes tell what is refused. */
export const MARK_BYTES = Math.max(...REFUSED.map(([, mark]) => mark.length))

const OFFICE_97 = bytes(0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1)
/** Office programs put what they encrypt into a container of the old format, in an entry of this name. */
const ENCRYPTED_ENTRY = Buffer.from('EncryptedPackage', 'utf16le')
/** Some writers put a few bytes of their own before a PDF. */
const PDF_WITHIN = 1_024

/** Throws `encrypted_file` and `unsupported_file` for what is known and not read. */
export function signatureOf(content: Buffer): Signature {
  if (content.subarray(0, PDF_WITHIN).includes('%PDF-')) return 'pdf'
  if (startsWith(content, bytes(0x50, 0x4b, 3, 4))) return 'zip'
  if (startsWith(content, Buffer.from('PAR1'))) return 'parquet'
  if (startsWith(content, OFFICE_97)) throw refuseOffice97(content)
  const kind = kindNotRead(content)
  if (kind !== undefined) throw unsupported(`it is ${kind}`)
  return 'none'
}

/** What a file is, where its first bytes tell that it is of a kind which is not read: `an image`. */
export function kindNotRead(content: Buffer): string | undefined {
  return REFUSED.find(([, mark]) => startsWith(content, mark))?.[0]
}

export function unsupported(why: string): ExtractionError {
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
