import { ExtractionError, passwordProtected } from './extracted.ts'
import type { ZipArchive } from './zip-archive.ts'

const bytes = (...values: number[]) => Buffer.from(values)

/** Files that are recognised only to be refused with a better reason, by their first bytes. */
export const REFUSED: readonly (readonly [kind: string, mark: Buffer])[] = [
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
  ['audio or video', Buffer.from('RIFF')],
  ['sound', Buffer.from('ID3')],
  ['sound', Buffer.from('OggS')],
  ['a database', Buffer.from('SQLite format 3')],
  ['a PostScript program', Buffer.from('%!PS')],
]

/** Such files whose mark is further back. */
const REFUSED_BEHIND: readonly (readonly [kind: string, mark: Buffer, at: number])[] = [
  ['an archive: send the files in it instead', Buffer.from('ustar'), 257],
  ['a HEIC picture: save it as JPEG or PNG', Buffer.from('ftyphei'), 4],
  ['a HEIC picture: save it as JPEG or PNG', Buffer.from('ftypmif1'), 4],
  ['an AVIF picture: save it as JPEG or PNG', Buffer.from('ftypavif'), 4],
  ['audio or video', Buffer.from('ftyp'), 4],
]

/** Such files that are ZIP archives, by a part that each of them has. */
const REFUSED_ZIPPED: readonly (readonly [string, string])[] = [
  ['of Pages, Numbers or Keynote: export it as PDF', 'Metadata/BuildVersionHistory.plist'],
  ['of Pages, Numbers or Keynote: export it as PDF', 'buildVersionHistory.plist'],
  ['a drawing of Visio: save it as PDF', 'visio/document.xml'],
  ['an XPS document: save it as PDF', 'FixedDocumentSequence.fdseq'],
  ['an XPS document: save it as PDF', 'FixedDocSeq.fdseq'],
]

const OFFICE_97 = bytes(0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1)
/** Office programs wrap encrypted files in a container of the old format, with an entry of this name. */
const ENCRYPTED_ENTRY = Buffer.from('EncryptedPackage', 'utf16le')
const WORKBOOK_ENTRIES = ['Workbook\0', 'WORKBOOK\0', 'Book\0', 'BOOK\0'].map((name) =>
  Buffer.from(name, 'utf16le'),
)
/** A workbook of Excel 2, 3 or 4 is no container, and begins with this record. */
const BEGINS_WORKBOOK = [bytes(9, 0, 4, 0), bytes(9, 0, 6, 0), bytes(9, 2, 6, 0), bytes(9, 4, 6, 0)]
const WORD_ENTRIES = ['WordDocument', 'PowerPoint Document'].map((name) =>
  Buffer.from(name, 'utf16le'),
)
/** The properties of a message of Outlook. */
const MAIL_ENTRY = Buffer.from('__properties_version1.0', 'utf16le')

/** What a file is by its first bytes, if that is not read; undefined for anything else. */
export function refusedKindOf(content: Buffer): string | undefined {
  const first = REFUSED.find(([, mark]) => startsWith(content, mark))
  const [kind] = first ?? REFUSED_BEHIND.find(([, ...mark]) => hasAt(content, ...mark)) ?? []
  return kind
}

/** Throws `encrypted_file` and `unsupported_file` for known types that are not read. */
export function refuseKnown(content: Buffer): void {
  if (startsWith(content, OFFICE_97)) throw refuseOffice97(content)
  const kind = refusedKindOf(content)
  if (kind !== undefined) throw unsupported(`it is ${kind}`)
}

export function unsupported(why: string): ExtractionError {
  return new ExtractionError('unsupported_file', `Files of this type are not read: ${why}`)
}

/** How a workbook that Excel 2003 wrote as XML begins: other XML may name its namespace, too. */
const XML_WORKBOOK =
  /^\ufeff?\s*<\?xml\s(?:[^<]|<\?|<!(?!--)|<!--(?:[^-]|-(?!->))*-->)*<(?:\w+:)?Workbook\s[^<>]*urn:schemas-microsoft-com:office:spreadsheet/
const XML_PREFIX_BYTES = 4_096

/** Workbooks of Excel 2 to 2003. */
export function isOldWorkbook(content: Buffer): boolean {
  if (XML_WORKBOOK.test(content.toString('utf8', 0, XML_PREFIX_BYTES))) return true
  if (BEGINS_WORKBOOK.some((mark) => startsWith(content, mark))) return true
  if (!startsWith(content, OFFICE_97) || content.includes(ENCRYPTED_ENTRY)) return false
  return WORKBOOK_ENTRIES.some((entry) => content.includes(entry))
}

/** Whether it is a message of Outlook, which may hold a workbook. */
export const isOutlookMessage = (content: Buffer): boolean =>
  startsWith(content, OFFICE_97) && content.includes(MAIL_ENTRY)

/** Whether it is a workbook that may be encrypted only against changes. */
export function mayBeLocked(content: Buffer): boolean {
  if (!startsWith(content, OFFICE_97)) return false
  return [ENCRYPTED_ENTRY, ...WORKBOOK_ENTRIES].some((entry) => content.includes(entry))
}

function refuseOffice97(content: Buffer): ExtractionError {
  if (content.includes(ENCRYPTED_ENTRY)) return passwordProtected()
  if (WORD_ENTRIES.some((entry) => content.includes(entry))) {
    return unsupported('it is a Word or PowerPoint file of 1997 to 2003: save it as DOCX or PPTX')
  }
  return unsupported('it is of an old Office program, such as Publisher or Visio: save it as PDF')
}

export function refuseZip(zip: ZipArchive): ExtractionError {
  const kind = REFUSED_ZIPPED.find(([, part]) => zip.has(part))?.[0]
  return unsupported(kind ? `it is ${kind}` : 'send the files in this archive instead')
}

export const startsWith = (content: Buffer, mark: Buffer): boolean => hasAt(content, mark, 0)

function hasAt(content: Buffer, mark: Buffer, at: number): boolean {
  return content.subarray(at, at + mark.length).equals(mark)
}
