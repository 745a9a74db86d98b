import { CFB, utils, write } from '@e965/xlsx'
import { strToU8, unzipSync, zipSync } from 'fflate'
import { expect, it } from 'vitest'
import { zipFile } from '../../../../test/support/zip-file.ts'
import { extractFile } from '../../src/extract-file.ts'
import { furnitureText } from '../../src/formats/page-furniture.ts'
import { tablesOfWorkbook } from '../../src/tables.ts'
import { sourceFile } from '../source-file.ts'

const BIRDS = utils.aoa_to_sheet([
  ['Bird', 'Pairs'],
  ['Tern', 52],
])

function record(type: number, data: Buffer): Buffer {
  const head = Buffer.alloc(4)
  head.writeUInt16LE(type)
  head.writeUInt16LE(data.length, 2)
  return Buffer.concat([head, data])
}

/** The records of an object with a text, in two pieces of two encodings. */
function textObject(kind: number, first: string, second: string): Buffer {
  const object = Buffer.from([0x15, 0, 0x12, 0, kind, 0, 1, 0])
  const text = Buffer.alloc(18)
  text.writeUInt16LE(first.length + second.length, 10)
  return Buffer.concat([
    record(0x5d, object),
    record(0x1b6, text),
    record(0x3c, Buffer.concat([Buffer.from([0]), Buffer.from(first, 'latin1')])),
    record(0x3c, Buffer.concat([Buffer.from([1]), Buffer.from(second, 'utf16le')])),
  ])
}

function header(type: number, text: string): Buffer {
  const data = Buffer.alloc(3)
  data.writeUInt16LE(text.length)
  return record(type, Buffer.concat([data, Buffer.from(text, 'latin1')]))
}

it('An XLS file has its text boxes, the texts of its charts, and headers and footers once', async () => {
  const archive = CFB.read(
    write(utils.book_new(BIRDS, 'Birds'), { type: 'buffer', bookType: 'biff8' }),
    {
      type: 'buffer',
    },
  )
  const entry = CFB.find(archive, 'Workbook')
  const stream = Buffer.from(entry?.content ?? [])
  const chart = Buffer.concat([
    record(0x809, Buffer.from([0, 6, 0x20, 0])),
    record(0x100d, Buffer.from([0, 0, 5, 0, ...Buffer.from('Pairs')])),
    record(0xa, Buffer.alloc(0)),
  ])
  const added = Buffer.concat([
    header(0x14, '&LColony &"Arial,Bold"&12report&RPage &P of &N'),
    header(0x15, '&CR&&D, IBAN 4711'),
    textObject(6, 'Counted in ', 'May – twice'),
    textObject(0x19, 'a comm', 'ent'),
    chart,
  ])
  const changed = Buffer.concat([stream.subarray(0, -4), added, stream.subarray(-4)])
  CFB.utils.cfb_add(archive, '/Workbook', changed)
  const bytes = Buffer.from(CFB.write(archive, { type: 'buffer' }))
  const { text, tables } = await extractFile(sourceFile('birds.xls', bytes))
  expect(text).toBe(
    [
      '## Birds',
      '',
      '- Bird: Tern; Pairs: 52',
      '',
      'Counted in May – twice',
      '',
      'Chart: Pairs',
      '',
      'Page header: Colony report',
      '',
      'Page footer: R&D, IBAN 4711',
      '',
    ].join('\n'),
  )
  expect(tables).toBe(1)
})

const relationships = (type: string, target: string) =>
  strToU8(
    `<Relationships><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/${type}" Target="${target}"/></Relationships>`,
  )
const DRAWING = strToU8(
  '<xdr:wsDr><xdr:sp><xdr:txBody><a:p><a:r><a:t>Counted in May</a:t></a:r></a:p></xdr:txBody></xdr:sp></xdr:wsDr>',
)

it('An XLSB file has its text boxes, headers and footers', async () => {
  const parts = unzipSync(
    write(utils.book_new(BIRDS, 'Birds'), { type: 'buffer', bookType: 'xlsb' }),
  )
  const texts = ['&LColony', '&RPage &P', '', '', '', ''].map((text) => {
    const length = Buffer.alloc(4)
    length.writeInt32LE(text.length)
    return Buffer.concat([length, Buffer.from(text, 'utf16le')])
  })
  const data = Buffer.concat([Buffer.alloc(2), ...texts])
  const sheet = Buffer.from(parts['xl/worksheets/sheet1.bin'] ?? [])
  parts['xl/worksheets/sheet1.bin'] = Buffer.concat([
    sheet,
    Buffer.from([0xdf, 0x03, data.length]),
    data,
  ])
  parts['xl/worksheets/_rels/sheet1.bin.rels'] = relationships(
    'drawing',
    '../drawings/drawing1.xml',
  )
  parts['xl/drawings/drawing1.xml'] = DRAWING
  const { text } = await extractFile(sourceFile('birds.xlsb', zipSync(parts)))
  expect(text).toBe(
    '## Birds\n\n- Bird: Tern; Pairs: 52\n\nCounted in May\n\nPage header: Colony\n',
  )
})

it('An XLSX file has the headers and footers of its sheets once', async () => {
  const book = utils.book_new(BIRDS, 'Birds')
  utils.book_append_sheet(book, utils.aoa_to_sheet([['Notes'], ['none']]), 'More')
  const parts = unzipSync(write(book, { type: 'buffer' }))
  for (const name of ['sheet1', 'sheet2']) {
    const path = `xl/worksheets/${name}.xml`
    const xml = Buffer.from(parts[path] ?? []).toString()
    parts[path] = strToU8(
      xml.replace(
        '</worksheet>',
        '<headerFooter><oddHeader>&amp;LHX-4711 &lt;draft&gt;&amp;R&amp;D</oddHeader><oddFooter>&amp;CPage &amp;P</oddFooter></headerFooter></worksheet>',
      ),
    )
  }
  const { text } = await extractFile(sourceFile('birds.xlsx', zipSync(parts)))
  expect(text.match(/Page .*/g)).toEqual(['Page header: HX-4711 <draft>'])
})

it.each([
  ['&L&"Calibri,Regular"&11Left&CMiddle&RRight', 'Left; Middle; Right'],
  ['&CSeite &P von &N', ''],
  ['&K04-024Draft && final &D &T', 'Draft & final'],
  ['plain', 'plain'],
])('Of the header %s remains "%s"', (coded, text) => expect(furnitureText(coded)).toBe(text))

const cell = (content: string) =>
  `<table:table-cell office:value-type="string">${content}</table:table-cell>`

it('An ODS file has its shapes, also those in cells, and headers and footers, and needs no styles', async () => {
  const content = `<office:document-content><office:body><office:spreadsheet><table:table table:name="Birds"><table:shapes><draw:custom-shape><text:p>Counted</text:p><text:p>in May</text:p></draw:custom-shape></table:shapes><table:table-row>${cell('<text:p>Bird</text:p>')}${cell('<text:p>Note</text:p>')}</table:table-row><table:table-row>${cell('<text:p>Tern</text:p><draw:frame><draw:text-box><text:p>Boxed</text:p></draw:text-box></draw:frame>')}${cell('<text:p>loud</text:p>')}</table:table-row></table:table></office:spreadsheet></office:body></office:document-content>`
  const styles =
    '<office:document-styles><style:master-page><style:header><style:region-left><text:p>Colony <text:sheet-name>?</text:sheet-name></text:p></style:region-left></style:header><style:footer><text:p>Page <text:page-number>1</text:page-number></text:p></style:footer></style:master-page></office:document-styles>'
  const files = [
    { name: 'mimetype', content: 'application/vnd.oasis.opendocument.spreadsheet' },
    { name: 'META-INF/manifest.xml', content: '<manifest:manifest/>' },
    { name: 'content.xml', content },
  ]
  const bytes = zipFile([...files, { name: 'styles.xml', content: styles }])
  const { text } = await extractFile(sourceFile('birds.ods', bytes))
  expect(text).toBe(
    '## Birds\n\n- Bird: Tern; Note: loud\n\nCounted\nin May\n\nBoxed\n\nPage header: Colony\n',
  )
  const [sheet] = await tablesOfWorkbook(zipFile(files))
  expect(sheet?.tables[0]?.rows).toEqual([['Tern', 'loud']])
})
