import { describe, expect, it } from 'vitest'
import { fixture } from '../../../../test/support/forms.ts'
import { processorMs } from '../../../../test/support/processor-time.ts'
import { zipFile } from '../../../../test/support/zip-file.ts'
import { extractFile as readFile } from '../../src/extract-file.ts'
import { extractDocx } from '../../src/formats/docx.ts'
import { openZip } from '../../src/zip-archive.ts'

const NAMESPACES = `xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" xmlns:v="urn:schemas-microsoft-com:vml"`
const PARTS = {
  '[Content_Types].xml':
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="xml" ContentType="application/xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>',
  '_rels/.rels':
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>',
}

const TARGETS = new Map([
  ['aFChunk', 'chunk.html'],
  ['package', 'plan.csv'],
])

const extract = async (bytes: Buffer) =>
  extractDocx(
    await openZip(bytes),
    'word/document.xml',
    async () => '',
    (file) => readFile(file),
  )
const textOf = async (bytes: Buffer) => (await extract(bytes)).text
const paragraph = (text: string) => `<w:p><w:r><w:t xml:space="preserve">${text}</w:t></w:r></w:p>`
const documentOf = (body: string, more: Record<string, string> = {}) =>
  zipFile(
    Object.entries({
      ...PARTS,
      'word/document.xml': `<w:document ${NAMESPACES}><w:body>${body}</w:body></w:document>`,
      ...more,
    }).map(([name, content]) => ({ name, content })),
  )

describe('A Word document', () => {
  it('keeps its headings, lists and tables', async () => {
    const { text, pageStarts } = await extract(fixture('herons.docx'))
    expect(pageStarts).toBeUndefined()
    expect(text).toBe(
      [
        '# Heron handbook',
        'Herons stand still in shallow water and wait for fish.',
        '## Nesting',
        'Grey herons nest in colonies high in old trees.',
        '-   alder\n-   oak',
        '| Species | Wingspan |\n| --- | --- |\n| Grey heron | 175 cm |\n| Little egret | 95 cm |',
      ].join('\n\n'),
    )
  })

  it('is read as paragraphs, without markup', async () => {
    const bytes = documentOf(
      `${paragraph('One &lt;two&gt; &amp; three.')}${paragraph('Vier: ä 👋')}`,
    )
    expect(await textOf(bytes)).toBe('One <two> & three.\n\nVier: ä 👋')
  })

  it('has the text after all tracked changes: neither what was deleted nor where it was moved from', async () => {
    const changed = `<w:p><w:r><w:t xml:space="preserve">Herons </w:t></w:r>
      <w:del w:id="1" w:author="Ann" w:date="2026-01-02T03:04:05Z"><w:r><w:delText>swim</w:delText></w:r></w:del>
      <w:ins w:id="2" w:author="Ann"><w:r><w:t>wade</w:t></w:r></w:ins><w:r><w:t>.</w:t></w:r></w:p>
      <w:p><w:pPr><w:rPr><w:del w:id="3"/></w:rPr></w:pPr><w:del w:id="4"><w:r><w:delText>A whole paragraph.</w:delText></w:r></w:del></w:p>
      <w:p><w:moveFrom w:id="5"><w:r><w:t>Moved.</w:t></w:r></w:moveFrom></w:p>
      <w:p><w:moveTo w:id="6"><w:r><w:t>Moved.</w:t></w:r></w:moveTo></w:p>`
    expect(await textOf(documentOf(changed))).toBe('Herons wade.\n\nMoved.')
  })

  it('has each comment where it belongs, under the name of its author', async () => {
    const commented = `<w:p><w:r><w:t xml:space="preserve">They </w:t></w:r><w:commentRangeStart w:id="0"/><w:r><w:t>swim</w:t></w:r><w:commentRangeEnd w:id="0"/><w:r><w:rPr><w:rStyle w:val="CommentReference"/></w:rPr><w:commentReference w:id="0"/></w:r><w:r><w:commentReference w:id="1"/></w:r><w:r><w:commentReference w:id="0"/></w:r><w:r><w:t xml:space="preserve"> well.</w:t></w:r></w:p>`
    const comments = `<w:comments ${NAMESPACES}><w:comment w:id="0" w:author="Ann &amp; Bo" w:date="2026-01-02T03:04:05Z" w:initials="A"><w:p><w:r><w:annotationRef/></w:r><w:r><w:t>Do &lt;herons&gt;</w:t></w:r><w:del w:id="7"><w:r><w:t>never</w:t></w:r></w:del></w:p><w:p><w:r><w:t>swim?</w:t></w:r></w:p></w:comment><w:comment w:id="1"><w:p><w:r><w:t>${'no '.repeat(1_000)}</w:t></w:r></w:p></w:comment></w:comments>`
    const text = await textOf(documentOf(commented, { 'word/comments.xml': comments }))
    expect(text).toMatch(
      /^They swim \[Comment by Ann & Bo: Do <herons> swim\?\] \[Comment: (?:no ){600,670}(?:no?)?…\] well\.$/,
    )
  })

  it('has the text of each text box once, after the paragraph that holds it', async () => {
    const within = `<w:txbxContent>${paragraph('In a box')}</w:txbxContent>`
    const drawing = `<w:drawing><wp:anchor><a:graphic><a:graphicData><wps:wsp><wps:txbx>${within}</wps:txbx></wps:wsp></a:graphicData></a:graphic></wp:anchor></w:drawing>`
    const old = `<w:pict><v:oval><v:textbox>${within}</v:textbox></v:oval></w:pict>`
    const both = `<mc:AlternateContent><mc:Choice Requires="wps">${drawing}</mc:Choice><mc:Fallback>${old}</mc:Fallback></mc:AlternateContent>`
    const onlyOld = `<mc:AlternateContent><mc:Choice Requires="wps"/><mc:Fallback>${old}</mc:Fallback></mc:AlternateContent>`
    for (const shape of [both, onlyOld, drawing, old]) {
      const body = `<w:p><w:r>${shape}</w:r><w:r><w:t>Before.</w:t></w:r></w:p>${paragraph('After.')}`
      expect(await textOf(documentOf(body))).toBe('Before.\n\nIn a box\n\nAfter.')
    }
  })

  it('has a text box within a text box', async () => {
    const box = (text: string) =>
      `<w:p><w:r><w:pict><v:rect><v:textbox><w:txbxContent>${text}</w:txbxContent></v:textbox></v:rect></w:pict></w:r></w:p>`
    expect(await textOf(documentOf(box(`${paragraph('Outer')}${box(paragraph('Inner'))}`)))).toBe(
      'Outer\n\nInner',
    )
  })

  it('has the values of a chart as a table, after the paragraph that holds it', async () => {
    const drawing =
      '<w:drawing><wp:inline><a:graphic><a:graphicData><c:chart xmlns:c="urn:c" xmlns:r="urn:r" r:id="rId4"/></a:graphicData></a:graphic></wp:inline></w:drawing>'
    const values = (name: string, ...texts: string[]) =>
      `<c:${name}><c:numRef><c:numCache>${texts.map((text, place) => `<c:pt idx="${place}"><c:v>${text}</c:v></c:pt>`).join('')}</c:numCache></c:numRef></c:${name}>`
    const chart = `<c:chartSpace><c:chart><c:title><c:tx><c:rich><a:p><a:r><a:t>Pairs &amp; more</a:t></a:r></a:p></c:rich></c:tx></c:title><c:plotArea><c:barChart><c:ser>${values('tx', 'Terns')}${values('cat', '2023', '2024')}${values('val', '52', '60')}</c:ser></c:barChart></c:plotArea></c:chart></c:chartSpace>`
    const relations =
      '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId4" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/chart" Target="charts/chart1.xml"/></Relationships>'
    const body = `<w:p><w:r><w:t>Before.</w:t></w:r><w:r>${drawing}</w:r></w:p>${paragraph('After.')}<w:p><w:r>${drawing}</w:r></w:p>`
    const file = documentOf(body, {
      'word/charts/chart1.xml': chart,
      'word/_rels/document.xml.rels': relations,
    })
    expect(await textOf(file)).toBe(
      'Before.\n\nChart: Pairs & more\n\n| Category | Terns |\n| --- | --- |\n| 2023 | 52 |\n| 2024 | 60 |\n\nAfter.',
    )
  })

  it('has a waterfall and the text of SmartArt, once', async () => {
    const drawing = (inner: string) =>
      `<w:drawing><wp:inline><a:graphic><a:graphicData>${inner}</a:graphicData></a:graphic></wp:inline></w:drawing>`
    const chart =
      '<cx:chartSpace><cx:chartData><cx:data id="0"><cx:numDim type="val"><cx:lvl><cx:pt idx="0">12</cx:pt></cx:lvl></cx:numDim></cx:data></cx:chartData><cx:chart><cx:plotArea><cx:plotAreaRegion><cx:series><cx:dataId val="0"/></cx:series></cx:plotAreaRegion></cx:plotArea></cx:chart></cx:chartSpace>'
    const point = (id: string) =>
      `<dgm:pt modelId="${id}"><dgm:t><a:p><a:r><a:t>Point ${id}</a:t></a:r></a:p></dgm:t></dgm:pt>`
    const relation = (id: string, type: string, target: string) =>
      `<Relationship Id="${id}" Type="http://schemas.example/${type}" Target="${target}"/>`
    const body = `<w:p><w:r>${drawing('<dgm:relIds r:dm="rId5"/>')}</w:r></w:p><w:p><w:r><mc:AlternateContent><mc:Choice Requires="cx1">${drawing('<cx:chart r:id="rId4"/>')}</mc:Choice><mc:Fallback/></mc:AlternateContent></w:r></w:p>${paragraph('After.')}`
    const file = documentOf(body, {
      'word/charts/chartEx1.xml': chart,
      'word/diagrams/data1.xml': `<dgm:dataModel><dgm:ptLst>${point('1')}${point('2')}</dgm:ptLst><dgm:cxnLst><dgm:cxn srcId="1" destId="2"/><dgm:cxn srcId="2" destId="1"/></dgm:cxnLst></dgm:dataModel>`,
      'word/_rels/document.xml.rels': `<Relationships>${relation('rId4', 'chartEx', 'charts/chartEx1.xml')}${relation('rId5', 'diagramData', 'diagrams/data1.xml')}</Relationships>`,
    })
    expect(await textOf(file)).toBe(
      'Point 1 > Point 2\n\nChart\n\n| Category |  |\n| --- | --- |\n| 1 | 12 |\n\nAfter.',
    )
  })

  it('has its equations as LaTeX, within a sentence and of their own', async () => {
    const half =
      '<m:oMath><m:f><m:num><m:r><m:t>1</m:t></m:r></m:num><m:den><m:r><m:t>2</m:t></m:r></m:den></m:f></m:oMath>'
    const body = `<w:p><w:r><w:t xml:space="preserve">About </w:t></w:r>${half}<w:r><w:t xml:space="preserve"> of them.</w:t></w:r></w:p>
      <w:p><m:oMathPara><m:oMathParaPr><m:jc m:val="left"/></m:oMathParaPr>${half}</m:oMathPara></w:p>
      <w:p><m:oMath/><w:r><w:t>End</w:t></w:r></w:p>`
    expect(await textOf(documentOf(body))).toBe(
      'About $\\frac{1}{2}$ of them.\n\n$$\\frac{1}{2}$$\n\nEnd',
    )
  })

  it('is refused where it nests without end', async () => {
    const deep = `<w:p><m:oMath>${'<m:e>'.repeat(100_000)}${'</m:e>'.repeat(100_000)}</m:oMath></w:p>`
    await expect(textOf(documentOf(deep))).rejects.toMatchObject({ code: 'file_too_complex' })
  })

  it('may be empty', async () => {
    expect(await textOf(documentOf(''))).toBe('')
  })

  it('is refused if its main part is not a document', async () => {
    const bytes = zipFile([{ name: 'word/document.xml', content: 'no XML' }])
    await expect(textOf(bytes)).rejects.toThrow()
  })
})

describe('The numbers of a Word document', () => {
  const RELATIONS = `<Relationships>${[
    'numbering',
    'styles',
    'header',
    'footer',
    'aFChunk',
    'package',
  ]
    .map(
      (kind) =>
        `<Relationship Id="${kind}" Type="http://schemas.example/${kind}" Target="${TARGETS.get(kind) ?? `${kind}.xml`}"/>`,
    )
    .join('')}</Relationships>`
  const level = (at: number, format: string, text: string, more = '') =>
    `<w:lvl w:ilvl="${at}"><w:start w:val="1"/><w:numFmt w:val="${format}"/>${more}<w:lvlText w:val="${text}"/></w:lvl>`
  const numbering = `<w:numbering ${NAMESPACES}>
    <w:abstractNum w:abstractNumId="0">${level(0, 'upperRoman', 'Part %1', '<w:pStyle w:val="Part"/>')}${level(1, 'decimal', '%1.%2', '<w:isLgl/>')}${level(2, 'lowerLetter', '(%3)')}</w:abstractNum>
    <w:abstractNum w:abstractNumId="1">${level(0, 'bullet', '•')}</w:abstractNum>
    <w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>
    <w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num>
    <w:num w:numId="3"><w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="1"><w:startOverride w:val="7"/></w:lvlOverride></w:num></w:numbering>`
  const styles = `<w:styles ${NAMESPACES}><w:style w:type="paragraph" w:styleId="Part"><w:name w:val="Part"/><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr><w:outlineLvl w:val="0"/></w:pPr></w:style><w:style w:type="paragraph" w:styleId="Own"><w:name w:val="Own"/><w:basedOn w:val="Part"/></w:style><w:style w:type="character" w:styleId="Raised"><w:name w:val="Raised"/><w:rPr><w:vertAlign w:val="superscript"/></w:rPr></w:style></w:styles>`
  const item = (at: number, text: string, list = 1) =>
    `<w:p><w:pPr><w:numPr><w:ilvl w:val="${at}"/><w:numId w:val="${list}"/></w:numPr></w:pPr><w:r><w:t>${text}</w:t></w:r></w:p>`
  const styled = (style: string, text: string) =>
    `<w:p><w:pPr><w:pStyle w:val="${style}"/></w:pPr><w:r><w:t>${text}</w:t></w:r></w:p>`
  const numbered = (body: string, more: Record<string, string> = {}) =>
    textOf(
      documentOf(body, {
        'word/_rels/document.xml.rels': RELATIONS,
        'word/numbering.xml': numbering,
        'word/styles.xml': styles,
        ...more,
      }),
    )

  it('are part of its text, as it shows them', async () => {
    const text = await numbered(
      [
        styled('Part', 'Hire'),
        item(1, 'Deposit'),
        item(2, 'in coin'),
        item(2, 'in kind'),
        item(1, 'Term'),
        styled('Own', 'End'),
        item(1, 'Notice'),
        item(1, 'Later', 3),
        item(0, 'a bullet', 2),
      ].join(''),
    )
    expect(text.split(/\n+/).map((line) => line.trim())).toEqual([
      '# Part I Hire',
      '1.1  Deposit',
      '(a)  in coin',
      '(b)  in kind',
      '1.2  Term',
      '# Part II End',
      '2.1  Notice',
      '2.7  Later',
      '-   a bullet',
    ])
  })

  it('stay apart from what stands above them, by a style as well', async () => {
    const run = (text: string, properties: string) =>
      `<w:r><w:rPr>${properties}</w:rPr><w:t>${text}</w:t></w:r>`
    const body = `<w:p>${run('45', '')}${run('2', '<w:rStyle w:val="Raised"/>')}${run(' crowns, 10', '')}${run('6', '<w:vertAlign w:val="superscript"/>')}</w:p>`
    expect(await numbered(body)).toBe('45^2 crowns, 10^6')
    const shifted = `<w:p>${run('Dues 80', '')}${run('4', '<w:position w:val="6"/>')}${run(' a day, x', '')}${run('1', '<w:position w:val="-6"/>')}${run(' and y', '<w:position w:val="2"/>')}</w:p>`
    expect(await numbered(shifted)).toBe('Dues 80^4 a day, x₁ and y')
  })

  it('and all that its parts and fields say are there', async () => {
    const simple = (instruction: string, text: string) =>
      `<w:fldSimple w:instr="${instruction}"><w:r><w:t>${text}</w:t></w:r></w:fldSimple>`
    const field = (data: string, instruction: string) =>
      `<w:r><w:fldChar w:fldCharType="begin"><w:ffData>${data}</w:ffData></w:fldChar></w:r><w:r><w:instrText>${instruction}</w:instrText></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r>`
    const body = `<w:p>${simple('MERGEFIELD Name', 'Ida')}<w:r><w:t>, sea: </w:t></w:r>${field('<w:ddList><w:result w:val="1"/><w:listEntry w:val="Arctic"/><w:listEntry w:val="Baltic"/></w:ddList>', 'FORMDROPDOWN')}</w:p>
      <w:p>${field('<w:checkBox><w:checked/></w:checkBox>', 'FORMCHECKBOX')}<w:r><w:t>Moored</w:t></w:r></w:p>
      <w:p><w:r><w:ruby><w:rt><w:r><w:t>みなと</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>港</w:t></w:r></w:rubyBase></w:ruby></w:r><w:bdo w:val="rtl"><w:r><w:t>right</w:t></w:r></w:bdo></w:p>
      <w:altChunk r:id="aFChunk"/><w:p><w:r><w:t>End</w:t></w:r></w:p>`
    const furniture = (text: string) =>
      `<w:p><w:r><w:t>${text}</w:t></w:r>${simple('PAGE', '3')}</w:p>`
    const text = await numbered(body, {
      'word/chunk.html': '<html><body><h2>Lease</h2><p>The rent is 12 crowns.</p></body></html>',
      'word/header.xml': `<w:hdr>${furniture('Issue 6')}</w:hdr>`,
      'word/footer.xml': `<w:ftr>${furniture('Page ')}${furniture('Owner: Dock 5')}</w:ftr>`,
      'word/plan.csv': 'quay;fee\n7;120\n',
    })
    expect(text).toMatch(
      /^Ida, sea: Baltic\n\n\[x\] ?Moored\n\n港\(みなと\)right\n\n## Lease\n\nThe rent is 12 crowns\.\n\nEnd\n\nPage header: Issue 6\n\nPage footer: Page \| Owner: Dock 5\n\n## Attachment: plan\.csv\n\n- quay: 7; fee: 120/,
    )
  })

  it('and a file that is part of its text and cannot be read is named', async () => {
    const text = await numbered(
      '<w:altChunk r:id="aFChunk"/><w:p><w:r><w:t>End</w:t></w:r></w:p>',
      {
        'word/chunk.html': 'MZ\u0000\u0001',
      },
    )
    expect(text).toMatch(/^\(4 bytes\. .+\)\n\nEnd$/)
  })

  it('count no deeper than Word does', async () => {
    const deep = numbering
      .replaceAll('w:ilvl="2"', 'w:ilvl="20000000"')
      .replace('<w:lvlOverride w:ilvl="1">', '<w:lvlOverride w:ilvl="20000000">')
    const started = processorMs()
    const text = await numbered(item(20_000_000, 'in coin', 3), { 'word/numbering.xml': deep })
    expect(text.trim()).toBe('in coin')
    expect(processorMs() - started).toBeLessThan(1_000)
  })

  // yfedoseev/office_oxide#152 and #305
  it('break lines and go on at tabs, and are left out where they are hidden', async () => {
    const run = (text: string, properties = '') =>
      `<w:r><w:rPr>${properties}</w:rPr><w:t xml:space="preserve">${text}</w:t></w:r>`
    const bytes = documentOf(
      `<w:p><w:r><w:t>24 hours</w:t><w:cr/><w:t>Tariff</w:t><w:ptab/><w:t>17</w:t></w:r></w:p>
      <w:p>${run('Shown ')}${run('secret ', '<w:vanish/>')}${run('also ', '<w:vanish w:val="0"/>')}${run('styled ', '<w:rStyle w:val="Hidden"/>')}${run('too')}</w:p>
      <w:p><w:pPr><w:pStyle w:val="HiddenPart"/></w:pPr><w:r><w:t>All of it</w:t></w:r>${run('but this', '<w:vanish w:val="false"/>')}</w:p>
      <w:p><w:r><w:t>After it</w:t></w:r></w:p>`,
      {
        'word/styles.xml': `<w:styles ${NAMESPACES}><w:style w:type="character" w:styleId="Hidden"><w:rPr><w:vanish/></w:rPr></w:style><w:style w:type="paragraph" w:styleId="HiddenPart"><w:rPr><w:vanish/></w:rPr></w:style></w:styles>`,
      },
    )
    expect(await textOf(bytes)).toBe(
      '24 hours  \nTariff 17\n\nShown also too\n\nbut this\n\nAfter it',
    )
  })

  it('are left out where they are hidden in a header, too', async () => {
    const header = `<w:hdr ${NAMESPACES}><w:p><w:r><w:t>Issue</w:t><w:cr/></w:r><w:r><w:rPr><w:vanish/></w:rPr><w:t>draft</w:t></w:r><w:r><w:rPr><w:vanish w:val="0"/></w:rPr><w:t>6</w:t></w:r></w:p></w:hdr>`
    const type = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships/header'
    const bytes = documentOf(paragraph('Body'), {
      'word/header1.xml': header,
      'word/_rels/document.xml.rels': `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="h1" Type="${type}" Target="header1.xml"/></Relationships>`,
    })
    expect(await textOf(bytes)).toBe('Body\n\nPage header: Issue 6')
  })

  // microsoft/markitdown#2340
  it('keep what is struck out apart', async () => {
    const struck = (text: string, property: string) =>
      `<w:r><w:rPr>${property}</w:rPr><w:t xml:space="preserve">${text}</w:t></w:r>`
    const bytes = documentOf(
      `<w:p>${struck('40 ', '<w:strike/>')}${struck('45', '<w:dstrike/>')}${struck(' 50', '<w:dstrike w:val="0"/>')}</w:p>`,
    )
    expect(await textOf(bytes)).toBe('~~40 45~~ 50')
  })

  // docling-project/docling#3739
  it('stand in their columns in a row that begins late', async () => {
    const cells = (...texts: string[]) =>
      texts.map((text) => `<w:tc>${paragraph(text)}</w:tc>`).join('')
    const late = (columns: number) => `<w:trPr><w:gridBefore w:val="${columns}"/></w:trPr>`
    const rows = [cells('Port', 'Low', 'High'), `${late(1)}${cells('10', '20')}`]
    const last = [`${late(2)}${cells('30')}`, cells('Ems', '4', '5')]
    const table = [...rows, ...last].map((row) => `<w:tr>${row}</w:tr>`).join('')
    expect(await textOf(documentOf(`<w:tbl>${table}</w:tbl>`))).toBe(
      '| Port | Low | High |\n| --- | --- | --- |\n|  | 10 | 20 |\n|  |  | 30 |\n| Ems | 4 | 5 |',
    )
  })

  it('are read in a file whose main part has any name', async () => {
    const named = PARTS['_rels/.rels'].replace('document.xml', 'document2.xml')
    const entries = {
      ...PARTS,
      '[Content_Types].xml': PARTS['[Content_Types].xml'].replace('document.xml', 'document2.xml'),
      '_rels/.rels': named,
      'word/document2.xml': `<w:document ${NAMESPACES}><w:body>${styled('Heading1', 'Minutes')}</w:body></w:document>`,
    }
    const bytes = zipFile(Object.entries(entries).map(([name, content]) => ({ name, content })))
    expect((await readFile({ name: 'a.docx', mediaType: '', bytes })).text).toBe('# Minutes')
  })
})
