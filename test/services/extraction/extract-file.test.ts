import { describe, expect, it } from 'vitest'
import { extractFile } from '../../../src/services/extraction/extract-file.ts'
import { pdfFile } from '../../support/pdf-file.ts'
import { zipFile } from '../../support/zip-file.ts'
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
    ['text_too_long', sourceFile('a.txt', 'x'.repeat(10_000_001))],
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

it('Of a table only the beginning is read', async () => {
  const row = 'one,two,three,four,five\n'
  const file = sourceFile('a.csv', `a,b,c,d,e\n${row.repeat(800_000)}`)
  const { text } = await extractFile(file)
  expect(text.length).toBeLessThan(2_100_000)
  expect(text).toMatch(/\(The first \d+ rows; the whole table is in the file\.\)\n$/)
})
