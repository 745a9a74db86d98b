import { type BookType, utils, write } from '@e965/xlsx'
import { describe, expect, it } from 'vitest'
import { onlyLong } from '../../../test/support/long.ts'
import { processorMs } from '../../../test/support/processor-time.ts'
import { zipFile } from '../../../test/support/zip-file.ts'
import { extractFile } from '../src/extract-file.ts'
import { ExtractionError } from '../src/extracted.ts'
import { sourceFile } from './source-file.ts'

const SIZE = 40_000
/** For twice the size, at most so many times the time, which is too short to tell below `MEASURABLE_MS`. */
const MOST_GROWTH = 2.6
const MEASURABLE_MS = 400

const zip = (entries: Record<string, string>) =>
  zipFile(Object.entries(entries).map(([name, content]) => ({ name, content })))
const docx = (body: string) =>
  zip({
    'word/document.xml': `<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"><w:body>${body}</w:body></w:document>`,
  })
const odt = (body: string) =>
  zip({
    mimetype: 'application/vnd.oasis.opendocument.text',
    'content.xml': `<office:body><office:text>${body}</office:text></office:body>`,
  })
const pptx = (shapes: string) =>
  zip({
    'ppt/presentation.xml': '<p:sldId r:id="s"/>',
    'ppt/_rels/presentation.xml.rels':
      '<Relationships><Relationship Id="s" Type="x/slide" Target="s.xml"/></Relationships>',
    'ppt/s.xml': `<p:sld>${shapes}</p:sld>`,
  })
const epub = (chapter: string, spine = '<itemref idref="a"/>') =>
  zip({
    'META-INF/container.xml': '<rootfile full-path="b.opf"/>',
    'b.opf': `<package><item id="a" href="a.xhtml"/>${spine}</package>`,
    'a.xhtml': `<html><body>${chapter}</body></html>`,
  })
/** A workbook with merged cells, comments and formulas without values, with so many rows. */
function workbook(bookType: BookType, rows: number): Buffer {
  const sheet = utils.aoa_to_sheet(Array.from({ length: rows }, (_, row) => [row, `a${row}`, 'b']))
  sheet['!merges'] = Array.from({ length: rows / 4 }, (_, n) =>
    utils.decode_range(`A${n * 4 + 1}:A${n * 4 + 4}`),
  )
  for (let row = 1; row <= rows; row++) sheet[`D${row}`] = { t: 'n', f: `A${row}+1` }
  sheet['!ref'] = `A1:D${rows}`
  return write(utils.book_new(sheet, 'Rows'), { type: 'buffer', bookType })
}
const mail = (headers: string, body: string) => `From: a@b\nDate: x\n${headers}\n\n${body}`

const FILES: Record<string, (text: string) => string | Buffer> = {
  'a.html': (text) => `<html><body>${text}</body></html>`,
  'a.docx': (text) => docx(`<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`),
  'a.eml': (text) => mail('Content-Type: text/html', text),
  'a.rtf': (text) => `{\\rtf1 ${text}}`,
  'a.odt': (text) => odt(`<text:p>${text}</text:p>`),
  'a.pptx': (text) => pptx(`<p:sp><a:p><a:r><a:t>${text}</a:t></a:r></a:p></p:sp>`),
  'a.epub': (text) => epub(text),
  'a.xml': (text) => text,
  'a.md': (text) => text,
  'a.txt': (text) => text,
  'a.json': (text) => JSON.stringify({ text }),
  'a.fb2': (text) => `<FictionBook><body>${text}</body></FictionBook>`,
  'a.ics': (text) => `BEGIN:VCALENDAR\nSUMMARY:${text}\n`,
  'a.ipynb': (text) => JSON.stringify({ cells: [{ cell_type: 'code', source: text }] }),
  'a.csv': (text) => `a,b\n${text}`,
}
const SHAPES =
  '\n|<!--|<a>|(|\\(|[|`|*|_| |\u0301|&|&amp;|1|"|=\n|\\|{|}|# |- |> |<p>|<b>x</b>|<td>|<li>x|<table><tr><td>|<sup>2</sup>|<ruby>|\ufdd0|\ufdd6a\ufdd4|{\\super |\\par |\\cell |--b\n|ß'.split(
    '|',
  )

/** Elements of the formats, by what they repeat and how long that is. */
const ELEMENTS: readonly (readonly [
  name: string,
  element: string,
  (all: string) => string | Buffer,
])[] = [
  ['a.docx', '<w:p/>', docx],
  [
    'a.docx',
    '<w:tr><w:tc><w:p/></w:tc><w:tc><w:p/></w:tc></w:tr>',
    (all) => docx(`<w:tbl>${all}</w:tbl>`),
  ],
  ['a.docx', '<m:r><m:t>x </m:t></m:r>', (all) => docx(`<w:p><m:oMath>${all}</m:oMath></w:p>`)],
  ['a.docx', ' ', (all) => docx(`<w:p><m:oMath><m:r><m:t>${all}x</m:t></m:r></m:oMath></w:p>`)],
  [
    'a.docx',
    '<w:pict><w:txbxContent><w:p/></w:txbxContent></w:pict>',
    (all) => docx(`<w:p><w:r>${all}</w:r></w:p>`),
  ],
  ['a.html', '<li>one</li>', (all) => `<html><body><ol>${all}</ol></body></html>`],
  [
    'a.html',
    '<tr><td rowspan=99>a<td colspan=9>b</tr>',
    (all) => `<html><body><table>${all}</table></body></html>`,
  ],
  ['a.odt', '<text:list><text:list-item><text:p>a</text:p></text:list-item></text:list>', odt],
  ['a.pptx', '<a:tr><a:tc/></a:tr>', (all) => pptx(`<a:tbl>${all}</a:tbl>`)],
  ['a.epub', '<itemref idref="a"/>', (all) => epub('<p>x</p>', all)],
  [
    'a.eml',
    '--b\nContent-Type: message/rfc822\n\n',
    (all) => mail('Content-Type: multipart/mixed; boundary=b', all),
  ],
  ['a.eml', ' a=b;\n', (all) => mail(`Content-Type: text/plain;\n${all}`, 'x')],
  ['a.ics', ' b\n', (all) => `BEGIN:VCALENDAR\nSUMMARY:a\n${all}`],
  ['a.vcf', ';', (all) => `BEGIN:VCARD\nTEL${all}\n`],
]

async function timeOf(name: string, content: string | Buffer): Promise<number> {
  const started = processorMs()
  await extractFile(sourceFile(name, content)).catch((error: unknown) => {
    if (!(error instanceof ExtractionError)) throw error
  })
  return processorMs() - started
}

/** How many times longer the size takes than half of it. A pause of the machine is not taken for it. */
async function growthOf(name: string, make: (size: number) => string | Buffer): Promise<number> {
  const growths: number[] = []
  for (let attempt = 0; attempt < 3; attempt++) {
    const whole = await timeOf(name, make(SIZE))
    if (whole < MEASURABLE_MS) return 1
    growths.push(whole / Math.max(await timeOf(name, make(SIZE / 2)), 1))
    if (Math.min(...growths) <= MOST_GROWTH) break
  }
  return Math.min(...growths)
}

const repeated = (text: string, size: number) => text.repeat(Math.ceil(size / text.length))

const WORKBOOKS = ['xlsx', 'xls', 'ods', 'xlml'] as const

/** Each format with each shape; of the first, each format has another shape. */
const PAIRS = SHAPES.flatMap((_, turn) =>
  Object.keys(FILES).map(
    (name, place) => [name, SHAPES[(turn + place) % SHAPES.length] ?? ''] as const,
  ),
)

describe('The time of reading grows with the file, not with its square', onlyLong, () => {
  it.each(PAIRS)('%s of many %j between its marks', async (name, shape) => {
    const make = FILES[name] ?? String
    const growth = await growthOf(name, (size) => make(repeated(shape, size)))
    expect(growth).toBeLessThanOrEqual(MOST_GROWTH)
  })

  it.each(ELEMENTS)('%s of many %j', async (name, element, make) => {
    const growth = await growthOf(name, (size) => make(repeated(element, size)))
    expect(growth).toBeLessThanOrEqual(MOST_GROWTH)
  })

  it.each(WORKBOOKS)('an %s of many rows', async (bookType) => {
    const growth = await growthOf(`a.${bookType}`, (size) => workbook(bookType, size / 4))
    expect(growth).toBeLessThanOrEqual(MOST_GROWTH)
  })
})
