import { CFB, utils, write } from '@e965/xlsx'
import { expect, it } from 'vitest'
import { fixture } from '../../../../test/support/forms.ts'
import { zipFile } from '../../../../test/support/zip-file.ts'
import { extractFile } from '../../src/extract-file.ts'
import { shapeTextsOf } from '../../src/formats/xls-records.ts'

it('A workbook of 1997 has its hidden rows and columns named as well', async () => {
  const bytes = fixture('hidden.xls')
  const { text, warnings } = await extractFile({ name: 'hidden.xls', mediaType: '', bytes })
  expect(text.match(/- Bird: Tern; Pairs: 52/g)).toHaveLength(3)
  expect(warnings).toEqual([
    { code: 'hidden_cells', message: 'Hidden rows or columns were read, too: Rows, Columns' },
  ])
})

it('A sheet of 1997 keeps its header and footer beside those of a chart on it', () => {
  const record = (type: number, data: Buffer) => {
    const head = Buffer.alloc(4)
    head.writeUInt16LE(type)
    head.writeUInt16LE(data.length, 2)
    return Buffer.concat([head, data])
  }
  const furniture = (type: number, words: string) =>
    record(type, Buffer.concat([Buffer.from([words.length, 0, 0]), Buffer.from(words)]))
  const [begin, end] = [record(0x809, Buffer.alloc(16)), record(0xa, Buffer.alloc(0))]
  const place = Buffer.from([0, 0, 0, 0, 0, 0, 5, 0, ...Buffer.from('Quays')])
  const globals = begin.length + 4 + place.length + end.length
  place.writeUInt32LE(globals)
  const chart = [begin, furniture(0x14, ''), furniture(0x15, '&CChart 9'), end]
  const sheet = [begin, furniture(0x14, '&LHarbour'), furniture(0x15, 'Dock 5'), ...chart, end]
  const texts = shapeTextsOf(Buffer.concat([begin, record(0x85, place), end, ...sheet]))
  expect(texts.get('Quays')).toMatchObject({ header: 'Harbour', footer: 'Dock 5' })
})

it('A workbook that Excel 2003 wrote as XML is read as one', async () => {
  const bookType = 'xlml'
  const book = utils.book_new(
    utils.aoa_to_sheet([
      ['Quay', 'Fee'],
      [7, 120],
    ]),
    'Quays',
  )
  const bytes = Buffer.from(write(book, { type: 'buffer', bookType }))
  const { text } = await extractFile({ name: 'quays.xls', mediaType: '', bytes })
  expect(text).toBe('## Quays\n\n- Quay: 7; Fee: 120\n\n')
})

it('A workbook of 1997 that wants a password says so', async () => {
  const container = CFB.read(fixture('hidden.xls'), { type: 'buffer' })
  const workbook = CFB.find(container, 'Workbook')
  if (!workbook) throw new Error('The fixture has no workbook')
  const stream = Buffer.from(workbook.content)
  const afterFirst = 4 + stream.readUInt16LE(2)
  // [MS-XLS] 2.4.117: FilePass, with the key of RC4.
  const filePass = Buffer.concat([Buffer.from('2f003600010001000100', 'hex'), Buffer.alloc(48, 7)])
  workbook.content = Buffer.concat([
    stream.subarray(0, afterFirst),
    filePass,
    stream.subarray(afterFirst),
  ])
  const bytes = Buffer.from(CFB.write(container, { type: 'buffer' }))
  await expect(extractFile({ name: 'a.xls', mediaType: '', bytes })).rejects.toMatchObject({
    code: 'encrypted_file',
  })
})

it('A workbook of OpenDocument has its hidden sheets, rows and columns named as well', async () => {
  const table = (name: string, columns: string, state = '') =>
    `<table:table table:name="${name}" table:style-name="${name === 'Sheet' ? 'ta2' : 'ta1'}">${columns}${[
      ['Bird', 'Pairs'],
      ['Tern', '52'],
    ]
      .map(
        (cells) =>
          `<table:table-row${cells[0] === 'Tern' ? state : ''}>${cells.map((cell) => `<table:table-cell office:value-type="string"><text:p>${cell}</text:p></table:table-cell>`).join('')}</table:table-row>`,
      )
      .join(
        '',
      )}<table:table-row table:number-rows-repeated="1048574" table:visibility="collapse"><table:table-cell/></table:table-row></table:table>`
  const shown = '<table:table-column table:number-columns-repeated="2"/>'
  const hidden = '<table:table-column/><table:table-column table:visibility="collapse"/>'
  const unused =
    '<table:table-column table:number-columns-repeated="2"/><table:table-column table:number-columns-repeated="16382" table:visibility="collapse"/>'
  const content = `<?xml version="1.0" encoding="UTF-8"?><office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0"><office:automatic-styles><style:style style:name="ta1" style:family="table"><style:table-properties table:display="true"/></style:style><style:style style:name="ta2" style:family="table"><style:table-properties table:display="false"/></style:style></office:automatic-styles><office:body><office:spreadsheet>${table('Sheet', shown)}${table('Rows', shown, ' table:visibility="filter"')}${table('Columns', hidden)}${table('Unused', unused)}</office:spreadsheet></office:body></office:document-content>`
  const kind = 'application/vnd.oasis.opendocument.spreadsheet'
  const bytes = zipFile([
    { name: 'mimetype', content: kind },
    {
      name: 'META-INF/manifest.xml',
      content: `<manifest:manifest><manifest:file-entry manifest:full-path="/" manifest:media-type="${kind}"/><manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/></manifest:manifest>`,
    },
    { name: 'styles.xml', content: '<office:document-styles/>' },
    { name: 'content.xml', content },
  ])
  const { text, warnings } = await extractFile({ name: 'hidden.ods', mediaType: '', bytes })
  expect(text.match(/- Bird: Tern; Pairs: 52/g)).toHaveLength(4)
  expect(warnings).toEqual([
    { code: 'hidden_sheets', message: 'Hidden sheets were read, too: Sheet' },
    { code: 'hidden_cells', message: 'Hidden rows or columns were read, too: Rows, Columns' },
  ])
})
