import { type BookType, read, utils, write } from '@e965/xlsx'
import { describe, expect, it } from 'vitest'
import { zipFile } from '../../../../test/support/zip-file.ts'
import { extractFile } from '../../src/extract-file.ts'

const NAMES = `xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"`

const textOf = async (name: string, bytes: Buffer) =>
  (await extractFile({ name, mediaType: '', bytes })).text

function openDocument(kind: string, body: string, more: { name: string; content: string }[] = []) {
  return zipFile([
    { name: 'mimetype', content: `application/vnd.oasis.opendocument.${kind}` },
    {
      name: 'content.xml',
      content: `<?xml version="1.0"?><office:document-content ${NAMES}><office:automatic-styles><text:p>style</text:p></office:automatic-styles><office:body>${body}</office:body></office:document-content>`,
    },
    ...more,
  ])
}

describe('A text of OpenDocument', () => {
  it('keeps headings, lists, tables, notes and comments, but not what was deleted', async () => {
    const file = openDocument(
      'text',
      `<office:text>
        <text:tracked-changes><text:p>Deleted.</text:p></text:tracked-changes>
        <text:h text:outline-level="2">Terns &amp; gulls</text:h>
        <text:p>They <text:span>breed</text:span><text:s/>here<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>Since 1990.</text:p></text:note-body></text:note>.<office:annotation><dc:creator>Ann</dc:creator><text:p>Check this.</text:p></office:annotation></text:p>
        <text:list><text:list-item><text:p>First</text:p></text:list-item></text:list>
        <table:table><table:table-row><table:table-cell><text:p>Bird</text:p></table:table-cell><table:table-cell><text:p>Pairs</text:p></table:table-cell></table:table-row>
        <table:table-row><table:table-cell><text:p>Tern</text:p></table:table-cell><table:table-cell><text:p>52</text:p></table:table-cell></table:table-row></table:table>
      </office:text>`,
    )
    const text = await textOf('birds.odt', file)
    expect(text).toMatch(/^## Terns & gulls\n/)
    expect(text).toContain('They breed here (Since 1990.). (Check this.)')
    expect(text).toMatch(/- +First/)
    expect(text).toMatch(/\| Bird \| Pairs \|[\s\S]*\| Tern \| 52 \|/)
    expect(text).not.toMatch(/Deleted|style|Ann/)
  })

  it('keeps its numbers, signs above the line, spans, forms and the heads of its pages', async () => {
    const level = (at: number, format: string, more = '') =>
      `<text:list-level-style-number text:level="${at}" style:num-format="${format}" ${more}/>`
    const automatic = `<style:style style:name="T1"><style:text-properties style:text-position="super 58%"/></style:style><style:style style:name="T2"><style:text-properties style:text-position="sub 58%"/></style:style><text:list-style style:name="L1">${level(1, '1', 'style:num-suffix="."')}${level(2, 'a', 'style:num-prefix="(" style:num-suffix=")"')}</text:list-style>`
    const item = (text: string, more = '') =>
      `<text:list-item><text:p>${text}</text:p>${more}</text:list-item>`
    const list = (items: string, more = '') => `<text:list ${more}>${items}</text:list>`
    const cell = (text: string, more = '') =>
      `<table:table-cell ${more}><text:p>${text}</text:p></table:table-cell>`
    const row = (...cells: string[]) => `<table:table-row>${cells.join('')}</table:table-row>`
    const body = `<office:text><office:forms><form:form><form:checkbox form:id="c1" form:current-state="checked" form:label="Moored"/><form:listbox form:id="c2"><form:option form:label="Arctic"/><form:option form:label="Baltic" form:current-selected="true"/></form:listbox></form:form></office:forms>
      <text:h text:outline-level="1">Hire</text:h><text:h text:outline-level="2">Deposit</text:h>
      <text:p>45<text:span text:style-name="T1">2</text:span> crowns, CO<text:span text:style-name="T2">2</text:span></text:p>
      ${list(item('one', list(item('in') + item('out'))) + item('two'), 'text:style-name="L1" xml:id="l1"')}<text:p>Between.</text:p>
      ${list(item('three'), 'text:style-name="L1" text:continue-list="l1"')}
      <text:p><draw:control draw:control="c1"/> <draw:control draw:control="c2"/></text:p>
      <text:p><text:ruby><text:ruby-base>港</text:ruby-base><text:ruby-text>みなと</text:ruby-text></text:ruby></text:p>
      <table:table>${row(cell('Quay'), cell('Shift'), cell('Fee'))}${row(cell('West', 'table:number-rows-spanned="2"'), cell('day'), cell('4'))}${row('<table:covered-table-cell/>', cell('night'), cell('9'))}</table:table></office:text>`
    const styles = `<office:document-styles><text:outline-style><text:outline-level-style text:level="1" style:num-format="1"/><text:outline-level-style text:level="2" style:num-format="1" text:display-levels="2"/></text:outline-style><office:master-styles><style:master-page><style:header><text:p>Issue 6</text:p></style:header><style:footer><text:p>Page <text:page-number>1</text:page-number></text:p></style:footer></style:master-page></office:master-styles></office:document-styles>`
    const file = zipFile([
      { name: 'mimetype', content: 'application/vnd.oasis.opendocument.text' },
      {
        name: 'content.xml',
        content: `<office:document-content><office:automatic-styles>${automatic}</office:automatic-styles><office:body>${body}</office:body></office:document-content>`,
      },
      { name: 'styles.xml', content: styles },
    ])
    const text = await textOf('a.odt', file)
    expect(text.split(/\s*\n\s*/)).toEqual([
      '# 1 Hire',
      '## 1.1 Deposit',
      '45^2 crowns, CO₂',
      '1.  one',
      '(a)  in',
      '(b)  out',
      '2.  two',
      'Between.',
      '3.  three',
      '[x] Moored Baltic',
      '港(みなと)',
      '| Quay | Shift | Fee |',
      '| --- | --- | --- |',
      '| West | day | 4 |',
      '| West | night | 9 |',
      'Page header: Issue 6',
      'Page footer: Page',
    ])
  })

  it('keeps values under their heads behind empty cells, and the sheets and formulas within it', async () => {
    const cell = (text: string) => `<table:table-cell><text:p>${text}</text:p></table:table-cell>`
    const row = (...cells: string[]) => `<table:table-row>${cells.join('')}</table:table-row>`
    const object = (name: string) =>
      `<draw:frame><draw:object xlink:href="./${name}"/></draw:frame>`
    const table = (...rows: string[]) => `<table:table>${rows.join('')}</table:table>`
    const empty = '<table:table-cell table:number-columns-repeated="2"/>'
    const file = openDocument(
      'text',
      `<office:text>${table(row(...['Quay', 'Car', 'Bus', 'Lorry'].map(cell)), row(cell('7'), empty, cell('9')))}
        <text:p>Area: ${object('Object 3')}</text:p><text:p>Ships: ${object('Object 4')}${object('Gone')}</text:p></office:text>`,
      [
        {
          name: 'Object 3/content.xml',
          content: '<math><semantics><mi>r</mi><annotation>pi r^2</annotation></semantics></math>',
        },
        {
          name: 'Object 4/content.xml',
          content: `<office:body><office:spreadsheet>${table(row(cell('Year'), cell('Ships')), row(cell('2031'), cell('77')))}</office:spreadsheet></office:body>`,
        },
      ],
    )
    const text = await textOf('quays.odt', file)
    expect(text).toContain('| 7 |  |  | 9 |')
    expect(text).toContain('Area: pi r^2')
    expect(text).toMatch(/Ships:\s+\| Year \| Ships \|\n.*\n\| 2031 \| 77 \|/)
  })

  describe('has each object once, at its first place', () => {
    const object = (name: string) => `<draw:object xlink:href="./${name}"/>`
    const part = (name: string, body: string) => ({
      name: `${name}/content.xml`,
      content: `<office:body>${body}</office:body>`,
    })
    const paragraph = (text: string) => `<text:p>${text}</text:p>`

    it('also those that name each other, or are named in what was deleted', async () => {
      const deleted = `<text:tracked-changes>${object('One')}</text:tracked-changes>`
      const file = openDocument(
        'text',
        `<office:text>${deleted}${paragraph(object('One'))}${paragraph(`Between${object('Two')}${object('One')}`)}</office:text>`,
        [
          part('One', paragraph(`Tern${object('Two')}`)),
          part('Two', paragraph(`Gull${object('One')}${object('Two')}`)),
        ],
      )
      const text = await textOf('a.odt', file)
      expect(text.match(/\w+/g)).toEqual(['Tern', 'Between', 'Gull'])
    })

    it('also where each of them names those before it ten times', async () => {
      const names = Array.from({ length: 5 }, (_, number) => `Object ${number}`)
      const parts = names.map((name, number) =>
        part(
          name,
          paragraph(`Owl ${number}`) + names.slice(0, number).map(object).join('').repeat(10),
        ),
      )
      const body = names.map(object).join('').repeat(10)
      const text = await textOf('a.odt', openDocument('text', paragraph(body), parts))
      expect(text.match(/Owl \d/g)).toEqual(names.map((_, number) => `Owl ${number}`))
      expect(text.length).toBeLessThan(200)
    })
  })

  it('leaves out what is hidden, and keeps what is struck out apart', async () => {
    const styles = {
      name: 'styles.xml',
      content:
        '<office:document-styles><style:style style:name="Hidden"><style:text-properties text:display="none"/></style:style><style:style style:name="Struck"><style:text-properties style:text-line-through-style="solid"/></style:style><style:style style:name="Not"><style:text-properties style:text-line-through-style="none"/></style:style></office:document-styles>',
    }
    const span = (style: string, text: string) =>
      `<text:span text:style-name="${style}">${text}</text:span>`
    const body = `<office:text><text:p>Fee ${span('Struck', '40')} ${span('Not', '50')}${span('Hidden', ` secret ${span('Struck', 'x')}`)}</text:p>
      <text:p text:style-name="Hidden">Hidden too</text:p><text:section text:display="none"><text:p>And this</text:p></text:section><text:p>Shown</text:p></office:text>`
    expect(await textOf('a.odt', openDocument('text', body, [styles]))).toBe(
      'Fee ~~40~~ 50\n\nShown',
    )
  })

  it('of slides has a heading for each, and their notes', async () => {
    const slides = `<office:presentation><draw:page draw:name="Owls"><draw:frame><draw:text-box><text:p>Owls hunt at night.</text:p></draw:text-box></draw:frame><presentation:notes><text:p>Say it slowly.</text:p></presentation:notes></draw:page></office:presentation>`
    const text = await textOf('owls.odp', openDocument('presentation', slides))
    expect(text).toMatch(/^## Owls\n\nOwls hunt at night\.\n\n### Notes\n\nSay it slowly\./)
  })

  it('is refused where it is protected with a password', async () => {
    const manifest = { name: 'META-INF/manifest.xml', content: '<manifest:encryption-data/>' }
    await expect(textOf('a.odt', openDocument('text', '', [manifest]))).rejects.toMatchObject({
      code: 'encrypted_file',
    })
  })
})

describe.each(['ods', 'biff8', 'xlsb'] as const)('A workbook of type %s', (bookType) => {
  it('is read as one of XLSX is', async () => {
    const sheet = utils.aoa_to_sheet([
      ['Bird', 'Pairs', 'Share'],
      ['Tern', 52, 0.125],
      ['Gull', 1_550, 0.5],
    ])
    sheet.C2.z = '0.0%'
    sheet.C3.z = '0.0%'
    const book = utils.book_new()
    utils.book_append_sheet(book, sheet, 'Colonies')
    const bytes: Buffer = write(book, { type: 'buffer', bookType })
    expect(read(bytes).SheetNames).toEqual(['Colonies'])
    expect(await textOf(bookType === 'ods' ? 'birds.ods' : 'birds.xls', bytes)).toMatch(
      /^## Colonies\n\n- Bird: Tern; Pairs: 52; Share: 12.50?%\n- Bird: Gull; Pairs: 1550; Share: 50.00?%\n\n$/,
    )
  })
})

describe('An old workbook is read', () => {
  const birds = [{ Bird: 'Tern', Pairs: 52 }]
  const book = utils.book_new(utils.json_to_sheet(birds))
  const written = (bookType: BookType): Buffer => write(book, { type: 'buffer', bookType })

  it.each(['biff4', 'biff3', 'biff2'] as BookType[])('of type %s', async (bookType) => {
    expect(await textOf('birds.xls', written(bookType))).toMatch(/- Bird: Tern; Pairs: 52/)
  })

  it('that has its name in capitals, as some programs write it', async () => {
    const bytes = written('biff8')
    const at = bytes.indexOf(Buffer.from('Workbook', 'utf16le'))
    bytes.write('WORKBOOK', at, 'utf16le')
    expect(await textOf('birds.xls', bytes)).toMatch(/- Bird: Tern; Pairs: 52/)
  })
})
