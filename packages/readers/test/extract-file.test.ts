import { describe, expect, it } from 'vitest'
import { fixture } from '../../../test/support/forms.ts'
import { onlyLong } from '../../../test/support/long.ts'
import { pdfFile } from '../../../test/support/pdf-file.ts'
import { zipFile } from '../../../test/support/zip-file.ts'
import { extractFile, formatOf } from '../src/extract-file.ts'
import { ExtractionError } from '../src/extracted.ts'
import { extensionOf, kindByName, mediaTypeOfUpload, textKindOf } from '../src/file-kind.ts'
import { sourceFile, sourceFixture } from './source-file.ts'

describe('A file is read as what it is', () => {
  it.each([
    ['owls.pdf', /^## The snowy owl/],
    ['herons.docx', /^# Heron handbook\n/],
    ['kingfishers.pptx', /^## Slide 1\n/],
    ['ringing.xlsx', /^## Ringing\n\n- Bird: Robin/],
    ['swifts.epub', /^# On the wing\n/],
    ['tides.parquet', /^# tides\.parquet\n/],
    ['pelicans.html', /^# Pelicans\n/],
    ['storks.md', /^# Storks\n/],
    ['terns.csv', /^- Species: Arctic tern/],
    ['gulls.tsv', /^- Species: Kittiwake/],
    ['finches.json', /^title: Finches\n/],
    ['cranes.jsonl', /^- day: 2024-03-01; cranes: 4200\n/],
    ['curlew.eml', /^# Curlew nest – please fence\n/],
    ['count_birds.py', /^```py\n# Counts birds/],
    ['german.latin-1.txt', /^Die Eule jagt/],
  ])('%s', async (name, expected) => {
    const { text } = await extractFile(sourceFixture(name))
    expect(text).toMatch(expected)
  })

  it.each([
    ['owls.pdf', 'owls.docx', /^## The snowy owl/],
    ['herons.docx', 'herons', /^# Heron handbook\n/],
    ['ringing.xlsx', 'ringing.zip', /^## Ringing\n/],
    ['swifts.epub', 'swifts.txt', /^# On the wing\n/],
    ['pelicans.html', 'pelicans.pdf', /^# Pelicans\n/],
    ['curlew.eml', 'curlew.txt', /^# Curlew nest/],
    ['finches.json', 'finches', /^title: Finches\n/],
  ])('though %s is called %s', async (name, other, expected) => {
    const { bytes } = sourceFixture(name)
    const { text } = await extractFile(sourceFile(other, bytes))
    expect(text).toMatch(expected)
  })
})

it('A log is read without its colours', async () => {
  const { text } = await extractFile(sourceFile('a.log', '\u001b[1;31mERROR\u001b[0m disk full\n'))
  expect(text).toBe('ERROR disk full\n')
})

it('Rich text is read, whatever it is called', async () => {
  const { text } = await extractFile(sourceFile('letter.doc', '{\\rtf1\\ansi Dear Ann,\\par}'))
  expect(text).toBe('Dear Ann,')
})

describe('A file that cannot be read says why', () => {
  it.each([
    ['encrypted_file', sourceFixture('password.pdf')],
    ['encrypted_file', sourceFixture('password.docx')],
    ['encrypted_file', sourceFixture('password.xlsx')],
    ['unsupported_file', sourceFile('a.exe', 'MZ\x90')],
    ['unsupported_file', sourceFile('a.zip', zipFile([{ name: 'a', content: 'b' }]))],
    ['unsupported_file', sourceFile('a.dat', Buffer.alloc(100))],
    ['damaged_file', sourceFile('a.pdf', '%PDF-1.7 and nothing more')],
    ['damaged_file', sourceFile('a.docx', 'PK\x03\x04 and nothing more')],
    ['damaged_file', sourceFile('a.parquet', 'PAR1 and nothing more')],
    ['empty_document', sourceFile('a.pdf', pdfFile({ pages: ['', ''] }))],
    ['file_too_complex', sourceFile('a.html', `<html>${'<b>'.repeat(2_000)}`)],
    ['file_too_complex', sourceFile('a.json', `${'['.repeat(99_999)}1${']'.repeat(99_999)}`)],
    ['text_too_long', sourceFile('a.txt', 'x'.repeat(50_000_001))],
  ])('%s', async (code, file) => {
    await expect(extractFile(file)).rejects.toMatchObject({ name: 'ExtractionError', code })
  })

  it('and never in the words of a parser', async () => {
    const file = sourceFile('a.docx', zipFile([{ name: 'word/document.xml', content: '<w' }]))
    await expect(extractFile(file)).rejects.toMatchObject({
      message: 'The file cannot be read: it is damaged',
    })
  })
})

it('Of a table only the beginning is read', onlyLong, async () => {
  const row = 'one,two,three,four,five\n'
  const file = sourceFile('a.csv', `a,b,c,d,e\n${row.repeat(800_000)}`)
  const { text } = await extractFile(file)
  expect(text.length).toBeLessThan(2_100_000)
  expect(text).toMatch(/\(The first \d+ rows; the whole table is in the file\.\)\n$/)
})

describe('The name of a file says', () => {
  it.each([
    ['page.html', 'html'],
    ['page.HTM', 'html'],
    ['README.md', 'markdown'],
    ['guide.rst', 'markdown'],
    ['table.csv', 'csv'],
    ['table.tsv', 'csv'],
    ['record.json', 'json'],
    ['records.ndjson', 'json'],
    ['letter.eml', 'mail'],
    ['main.ts', 'code'],
    ['main.py', 'code'],
    ['feed.xml', 'code'],
    ['compose.yaml', 'code'],
    ['Makefile', 'code'],
    ['archive.tar.rs', 'code'],
  ])('%s is %s', (name, kind) => expect(kindByName(name)).toBe(kind))

  it.each(['notes.txt', 'notes', 'a.unknown', '', '.'])('nothing for certain: %s', (name) => {
    expect(kindByName(name)).toBeUndefined()
  })
})

it.each([
  ['a.b.PDF', 'pdf'],
  ['Makefile', 'makefile'],
  ['.gitignore', 'gitignore'],
  ['a.', ''],
])('The extension of %s is %s', (name, extension) => expect(extensionOf(name)).toBe(extension))

describe('The media type of a file', () => {
  it.each([
    ['a.bin', 'text/markdown', 'text/markdown'],
    ['a.txt', 'Text/Plain; charset=utf-8', 'text/plain'],
    ['a.pdf', 'application/octet-stream', 'application/pdf'],
    ['a.pdf', undefined, 'application/pdf'],
    ['a.epub', '', 'application/epub+zip'],
    ['a.py', undefined, 'text/plain'],
    ['a.unknown', undefined, 'application/octet-stream'],
    ['a.csv', 'nonsense', 'text/csv'],
    ['a.csv', 'text/html\r\nx-evil: 1', 'text/csv'],
    ['a.csv', `a/${'b'.repeat(200)}`, 'text/csv'],
  ])('%s that is said to be %s is %s', (name, declared, mediaType) => {
    expect(mediaTypeOfUpload(name, declared)).toBe(mediaType)
  })
})

const PAGE = '<!DOCTYPE html>\n<html><body>Text</body></html>'
const MAIL =
  'From: a@example.org\nTo: b@example.org\nDate: Mon, 1 Jan 2024 10:00:00 +0000\n\nHello.'

describe('What a text holds decides', () => {
  it.each([
    ['a page', PAGE, 'a.txt', 'html'],
    ['a page without a doctype', '\n<html lang="en"><body>x', 'a', 'html'],
    ['a page behind a comment', '<!-- saved -->\n<!doctype html><p>x', 'a', 'html'],
    ['a page behind an XML line', '<?xml version="1.0"?>\n<html>x', 'a', 'html'],
    ['a page that is said to be a table', PAGE, 'export.xls.csv', 'html'],
    ['a mail', MAIL, 'a.txt', 'mail'],
    ['a mail from a server', `Received: by x\nFrom: a@example.org\n\nHello`, 'a', 'mail'],
    ['a record', '{"a": [1, 2]}', 'a', 'json'],
    ['a list of records', ' [{"a": 1}]', 'a.txt', 'json'],
  ])('%s', (_case, text, name, kind) => expect(textKindOf(text, name)).toBe(kind))
})

describe('The name decides', () => {
  it.each([
    ['a program that writes a page', PAGE, 'page.php', 'code'],
    ['a program that begins with a list', '[1, 2].map(print)', 'a.js', 'code'],
    ['notes on a page', `${PAGE}\n# Notes`, 'notes.md', 'markdown'],
    ['a table', 'a,b\n1,2', 'a.csv', 'csv'],
    ['records, also where they are cut off', '{"a": [1, ', 'a.json', 'json'],
    ['lines of records', '{"a": 1}\n{"a": 2}', 'a.jsonl', 'json'],
  ])('where the content does not: %s', (_case, text, name, kind) => {
    expect(textKindOf(text, name)).toBe(kind)
  })
})

describe('It is plain text', () => {
  it.each([
    ['whatever else it could be', 'Just some words.', 'a.txt'],
    ['with a colon in its first line', 'Note: this is no mail.\n\nFrom: here', 'a.txt'],
    ['that begins like a record', '{curly} words in a text', 'a.txt'],
    ['that is called a PDF', 'Just some words.', 'a.pdf'],
    ['that is called a page', 'Just some words.', 'a.html'],
    ['that is called a mail', 'Just some words.', 'a.eml'],
    ['that speaks of <html> later on', 'The element <html> is the root.', 'a.txt'],
    ['that is empty', '', 'a.txt'],
  ])('%s', (_case, text, name) => expect(textKindOf(text, name)).toBe('text'))
})

const namedBy = (content: Buffer) => {
  try {
    return formatOf(content)?.name ?? 'none'
  } catch (error) {
    return error instanceof ExtractionError ? error.code : error
  }
}

describe('The first bytes of a file decide', () => {
  it.each([
    ['owls.pdf', 'pdf'],
    ['password.pdf', 'pdf'],
    ['herons.docx', 'zip'],
    ['swifts.epub', 'zip'],
    ['tides.parquet', 'parquet'],
    ['pelicans.html', 'none'],
    ['german.utf-16.txt', 'none'],
    ['password.docx', 'encrypted_file'],
    ['password.xlsx', 'encrypted_file'],
  ])('%s: %s', (name, expected) => expect(namedBy(fixture(name))).toBe(expected))

  it('a PDF though its writer put something before it', () => {
    expect(namedBy(Buffer.from('\n\n%!PS-Adobe PDF\n%PDF-1.7'))).toBe('pdf')
  })

  const SHEETS = 'xmlns="urn:schemas-microsoft-com:office:spreadsheet"'
  const XML = '<?xml version="1.0"?>'
  it.each([
    ['a workbook', `\ufeff${XML}\n<Workbook ${SHEETS}>`, 'xls'],
    [
      'a workbook behind a comment, with a prefix',
      `${XML}<?mso-application progid="Excel.Sheet"?><!-- export --><ss:Workbook\n${SHEETS.replace('=', ':ss=')}>`,
      'xls',
    ],
    [
      'a style sheet that writes a workbook',
      `${XML}<xsl:stylesheet ${SHEETS}><xsl:template match="/"><Workbook ${SHEETS}>`,
      'none',
    ],
    ['a list that names the type', `${XML}<types><type ${SHEETS}/></types>`, 'none'],
    ['a workbook of another kind', `${XML}<Workbook><note ${SHEETS}/></Workbook>`, 'none'],
    ['a comment on the type', `${XML}<!-- <Workbook ${SHEETS}> --><notes/>`, 'none'],
  ])('what XML is by its root: %s', (_case, text, expected) =>
    expect(namedBy(Buffer.from(text))).toBe(expected),
  )

  it('nothing of an empty file', () => expect(namedBy(Buffer.alloc(0))).toBe('none'))
})

describe('What is known and not read is refused', () => {
  it.each([
    ['a Windows program', Buffer.from('MZ\x90'), /a Windows program/],
    ['a Linux program', Buffer.from('\x7fELF'), /a program/],
    ['a gzip archive', Buffer.from([0x1f, 0x8b, 8]), /a compressed archive/],
    ['a 7z archive', Buffer.from([0x37, 0x7a, 0xbc, 0xaf]), /a compressed archive/],
    ['an empty ZIP archive', Buffer.from('PK\x05\x06'), /an empty ZIP archive/],
    ['a WAV', Buffer.from('RIFF....WAVE'), /audio/],
    ['an MP3', Buffer.from('ID3\x04'), /sound/],
    ['a database', Buffer.from('SQLite format 3\0'), /a database/],
    ['PostScript', Buffer.from('%!PS-Adobe-3.0'), /a PostScript program/],
    ['a tar archive', Buffer.concat([Buffer.alloc(257, 'owls.md'), Buffer.from('ustar')]), /in it/],
    ['a photo of a telephone', Buffer.from('\0\0\0\x20ftypheic'), /save it as JPEG or PNG/],
    ['a film', Buffer.from('\0\0\0\x20ftypisom'), /audio or video/],
  ])('with what it is: %s', (_case, content, message) => {
    expect(() => formatOf(content)).toThrow(message)
    expect(namedBy(content)).toBe('unsupported_file')
  })

  it('with what to do, where it is an archive of other files', async () => {
    const archive = zipFile([{ name: 'owls.md', content: '# Owls' }])
    await expect(extractFile(sourceFile('birds.zip', archive))).rejects.toMatchObject({
      code: 'unsupported_file',
      message: 'Files of this type are not read: send the files in this archive instead',
    })
  })

  it.each([
    ['of Pages', 'Metadata/BuildVersionHistory.plist', /of Pages, .* export it as PDF/],
    ['a drawing', 'visio/document.xml', /a drawing of Visio: save it as PDF/],
  ])('with what to do, where it is %s', async (_case, name, message) => {
    const archive = zipFile([{ name, content: 'x' }])
    await expect(extractFile(sourceFile('owls', archive))).rejects.toThrow(message)
  })

  it('with what to do, where it is of an old Office', () => {
    const old = Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1, 0, 0])
    expect(() => formatOf(old)).toThrow(/save it as PDF/)
    expect(namedBy(old)).toBe('unsupported_file')
    const text = Buffer.concat([old, Buffer.from('WordDocument', 'utf16le')])
    expect(() => formatOf(text)).toThrow(/save it as DOCX or PPTX/)
    const mail = Buffer.concat([old, Buffer.from('__properties_version1.0', 'utf16le')])
    expect(formatOf(mail)?.name).toBe('message')
  })
})
