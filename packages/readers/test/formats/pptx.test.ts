import { describe, expect, it } from 'vitest'
import { fixture } from '../../../../test/support/forms.ts'
import { zipFile } from '../../../../test/support/zip-file.ts'
import { extractFile } from '../../src/extract-file.ts'
import { extractPptx } from '../../src/formats/pptx.ts'
import { readSlide } from '../../src/formats/pptx-slide.ts'
import { openZip } from '../../src/zip-archive.ts'

const seeNothing = async () => ''
const paragraph = (text: string) => `<a:p><a:r><a:t>${text}</a:t></a:r></a:p>`
const shape = (type: string, ...texts: string[]) =>
  `<p:sp><p:nvSpPr><p:nvPr><p:ph type="${type}"/></p:nvPr></p:nvSpPr>${texts.map(paragraph).join('')}</p:sp>`
const slide = (...shapes: string[]) => `<p:sld>${shapes.join('')}</p:sld>`
const relation = (id: string, type: string, target: string) =>
  `<Relationship Id="${id}" Type="http://schemas.example/${type}" Target="${target}"/>`
const relations = (...all: string[]) => `<Relationships>${all.join('')}</Relationships>`

const read = async (bytes: Buffer) =>
  extractPptx(await openZip(bytes), 'ppt/presentation.xml', seeNothing, (file) => extractFile(file))
const extract = async (entries: Record<string, string>) =>
  read(zipFile(Object.entries(entries).map(([name, content]) => ({ name, content }))))

describe('A presentation', () => {
  it('is its slides, each a page, with the notes behind', async () => {
    const { text, pageStarts = [] } = await read(fixture('kingfishers.pptx'))
    expect(pageStarts).toHaveLength(3)
    expect(text.slice(0, pageStarts[1])).toMatch(
      /^## Slide 1\n\nKingfishers\n\nThey dive .*\n\nNotes: Mention the burrow in the bank\.\n\n$/s,
    )
    expect(text.slice(pageStarts[2])).toMatch(
      /\| River \| Pairs \|\n\| --- \| --- \|\n\| Avon \| 12 \|/,
    )
  })

  it('has a footer once, where it first stands', async () => {
    const link = (n: number) => relation(`r${n}`, 'slide', `slides/slide${n}.xml`)
    const footed = (n: number) => slide(shape('title', `No. ${n}`), shape('ftr', 'Draft, 2026'))
    const { text } = await extract({
      'ppt/presentation.xml':
        '<p:presentation><p:sldIdLst><p:sldId r:id="r1"/><p:sldId r:id="r2"/></p:sldIdLst></p:presentation>',
      'ppt/_rels/presentation.xml.rels': relations(link(1), link(2)),
      'ppt/slides/slide1.xml': footed(1),
      'ppt/slides/slide2.xml': footed(2),
    })
    expect(text).toBe('## No. 1\n\n\n\nDraft, 2026\n\n## No. 2\n\n\n\n')
  })

  // ssine/pptx2md#88
  it('keeps what is struck out apart', () => {
    const run = (text: string, strike: string) =>
      `<a:r><a:rPr strike="${strike}"/><a:t>${text}</a:t></a:r>`
    const runs = `${run('Fee 4', 'sngStrike')}${run('0', 'dblStrike')}${run(' 50', 'noStrike')}`
    expect(readSlide(slide(`<p:sp><a:p>${runs}</a:p></p:sp>`)).body).toBe('~~Fee 40~~ 50')
  })

  it('keeps the order in which it is shown, whatever its files are called', async () => {
    const { text } = await extract({
      'ppt/presentation.xml':
        '<p:presentation><p:sldIdLst><p:sldId r:id="r2"/><p:sldId r:id="r1"/></p:sldIdLst></p:presentation>',
      'ppt/_rels/presentation.xml.rels': relations(
        relation('r1', 'slide', 'slides/slide1.xml'),
        relation('r2', 'slide', '/ppt/slides/slide2.xml'),
      ),
      'ppt/slides/slide1.xml': slide(shape('title', 'Shown second')),
      'ppt/slides/slide2.xml': slide(shape('ctrTitle', 'Shown first')),
    })
    expect(text.match(/^## .*/gm)).toEqual(['## Shown first', '## Shown second'])
  })

  it('does without a slide that is missing', async () => {
    const { text, pageStarts } = await extract({
      'ppt/presentation.xml':
        '<p:presentation><p:sldId r:id="r1"/><p:sldId r:id="r9"/></p:presentation>',
      'ppt/_rels/presentation.xml.rels': relations(relation('r1', 'slide', 'slides/slide1.xml')),
    })
    expect([text, pageStarts]).toEqual(['', []])
  })
})

it('A chart of a slide is a table of its values, at its place', async () => {
  const chart = `<c:chartSpace><c:chart><c:title><c:tx><c:rich><a:p><a:r><a:t>Herons</a:t></a:r></a:p></c:rich></c:tx></c:title><c:plotArea><c:barChart><c:ser><c:tx><c:strRef><c:f>Sheet1!$B$1</c:f><c:strCache><c:ptCount val="1"/><c:pt idx="0"><c:v>Pairs</c:v></c:pt></c:strCache></c:strRef></c:tx><c:cat><c:strRef><c:f>Sheet1!$A$2</c:f><c:strCache><c:pt idx="0"><c:v>Avon</c:v></c:pt></c:strCache></c:strRef></c:cat><c:val><c:numRef><c:f>Sheet1!$B$2</c:f><c:numCache><c:formatCode>General</c:formatCode><c:pt idx="0"><c:v>4.2999999999999998</c:v></c:pt></c:numCache></c:numRef></c:val></c:ser></c:barChart></c:plotArea></c:chart></c:chartSpace>`
  const frame =
    '<p:graphicFrame><a:graphic><a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/chart"><c:chart r:id="r2"/></a:graphicData></a:graphic></p:graphicFrame>'
  const { text } = await extract({
    'ppt/presentation.xml': '<p:presentation><p:sldId r:id="r1"/></p:presentation>',
    'ppt/_rels/presentation.xml.rels': relations(relation('r1', 'slide', 'slides/slide1.xml')),
    'ppt/slides/slide1.xml': slide(shape('title', 'Rivers'), frame, shape('body', 'After.')),
    'ppt/slides/_rels/slide1.xml.rels': relations(
      relation('r2', 'chart', '../charts/chart1.xml'),
      relation('r3', 'notesSlide', '../notesSlides/notesSlide1.xml'),
    ),
    'ppt/charts/chart1.xml': chart,
    'ppt/notesSlides/notesSlide1.xml': slide(shape('body', 'Say it slowly.')),
  })
  expect(text).toBe(
    '## Rivers\n\nChart: Herons\n\n| Category | Pairs |\n| --- | --- |\n| Avon | 4.3 |\n\nAfter.\n\nNotes: Say it slowly.\n\n',
  )
})

it('A waterfall and SmartArt of a slide are read, too, at their places', async () => {
  const chart =
    '<cx:chartSpace><cx:chartData><cx:data id="0"><cx:strDim type="cat"><cx:lvl><cx:pt idx="0">Start</cx:pt></cx:lvl></cx:strDim><cx:numDim type="val"><cx:lvl><cx:pt idx="0">12</cx:pt></cx:lvl></cx:numDim></cx:data></cx:chartData><cx:chart><cx:plotArea><cx:plotAreaRegion><cx:series><cx:tx><cx:txData><cx:v>Pairs</cx:v></cx:txData></cx:tx><cx:dataId val="0"/></cx:series></cx:plotAreaRegion></cx:plotArea></cx:chart></cx:chartSpace>'
  const point = (id: string, text: string, type = 'node') =>
    `<dgm:pt modelId="${id}" type="${type}"><dgm:t>${text && paragraph(text)}</dgm:t></dgm:pt>`
  const connection = (from: string, to: string, order: number) =>
    `<dgm:cxn modelId="c${to}" srcId="${from}" destId="${to}" srcOrd="${order}"/>`
  const model = `<dgm:dataModel><dgm:ptLst>${point('0', '', 'doc')}${point('1', 'Society')}${point('2', 'Ringing')}${point('3', 'Counts &amp; maps')}${point('4', 'Again', 'pres')}</dgm:ptLst><dgm:cxnLst>${connection('0', '1', 0)}${connection('1', '2', 1)}${connection('1', '3', 0)}<dgm:cxn type="presOf" srcId="1" destId="4"/></dgm:cxnLst></dgm:dataModel>`
  const frame = (inner: string) =>
    `<p:graphicFrame><a:graphic><a:graphicData>${inner}</a:graphicData></a:graphic></p:graphicFrame>`
  const { text } = await extract({
    'ppt/presentation.xml': '<p:presentation><p:sldId r:id="r1"/></p:presentation>',
    'ppt/_rels/presentation.xml.rels': relations(relation('r1', 'slide', 'slides/slide1.xml')),
    'ppt/slides/slide1.xml': slide(
      shape('title', 'Who'),
      frame('<dgm:relIds r:dm="r2" r:lo="r4"/>'),
      `<mc:AlternateContent><mc:Choice Requires="cx1">${frame('<cx:chart r:id="r3"/>')}</mc:Choice><mc:Fallback>${shape('body', 'Cannot be shown')}</mc:Fallback></mc:AlternateContent>`,
    ),
    'ppt/slides/_rels/slide1.xml.rels': relations(
      relation('r2', 'diagramData', '../diagrams/data1.xml'),
      relation('r3', 'chartEx', '../charts/chartEx1.xml'),
    ),
    'ppt/diagrams/data1.xml': model,
    'ppt/charts/chartEx1.xml': chart,
  })
  expect(text).toBe(
    '## Who\n\n- Society > Counts & maps\n- Society > Ringing\n\nChart: Pairs\n\n| Category | Pairs |\n| --- | --- |\n| Start | 12 |\n\n',
  )
})

describe('A slide', () => {
  it('has a title and paragraphs', () => {
    expect(readSlide(slide(shape('title', 'Owls'), shape('body', 'One.', 'Two.')))).toEqual({
      title: 'Owls',
      body: 'One.\n\nTwo.',
      footers: [],
    })
  })

  it('has footers apart from its text, without what programs fill in', () => {
    const furniture = ['dt', 'ftr', 'sldNum', 'hdr'].map((type) => shape(type, `A ${type}`))
    const field = shape('dt', '').replace('<a:r>', '<a:fld type="datetime1"/><a:r>')
    expect(readSlide(slide(...furniture, field, shape('body', 'Text.')))).toEqual({
      title: '',
      body: 'Text.',
      footers: ['A dt', 'A ftr'],
    })
  })

  it('joins the runs of a paragraph, and knows what is markup', () => {
    const runs =
      '<a:p><a:r><a:t>Owls &amp; </a:t></a:r><a:br/><a:r><a:t>&lt;mice&gt;</a:t></a:r></a:p>'
    expect(readSlide(slide(`<p:sp>${runs}</p:sp>`)).body).toBe('Owls & <mice>')
  })

  it('may hold a table with several paragraphs in a cell', () => {
    const cell = (...texts: string[]) => `<a:tc>${texts.map(paragraph).join('')}</a:tc>`
    const row = (...cells: string[]) => `<a:tr>${cells.join('')}</a:tr>`
    const table = `<a:tbl>${row(cell('a'), cell('b'))}${row(cell('1', '2'), cell('x|y'))}</a:tbl>`
    expect(readSlide(slide(`<p:graphicFrame>${table}</p:graphicFrame>`)).body).toBe(
      '| a | b |\n| --- | --- |\n| 1 2 | x/y |',
    )
  })

  it('keeps a table that comes after the number of the slide', () => {
    const table = `<a:tbl><a:tr><a:tc>${paragraph('Avon')}</a:tc></a:tr></a:tbl>`
    const frame = `<p:graphicFrame>${table}</p:graphicFrame>`
    expect(readSlide(slide(shape('sldNum', '3'), frame)).body).toBe('| Avon |\n| --- |')
  })

  it('has its equations as LaTeX, once', () => {
    const equation =
      '<m:oMath><m:sSup><m:e><m:r><a:rPr/><m:t>x</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup></m:oMath>'
    const sentence = `<p:sp><p:txBody><a:p><a:r><a:t>So </a:t></a:r><a14:m>${equation}</a14:m><a:r><a:t> grows.</a:t></a:r></a:p></p:txBody></p:sp>`
    const both = `<mc:AlternateContent><mc:Choice Requires="a14">${sentence}</mc:Choice><mc:Fallback>${shape('body', 'So it grows.')}</mc:Fallback></mc:AlternateContent>`
    expect(readSlide(slide(both, shape('body', 'End.'))).body).toBe('So $x^{2}$ grows.\n\nEnd.')
  })

  it('may have elements of any name', () => {
    const odd = '<constructor/><__proto__>x</__proto__><toString/>'
    expect(readSlide(slide(odd, shape('body', 'Text.'))).body).toBe('Text.')
  })

  it('may be broken', () => expect(readSlide('<p:sld><a:t>Half').body).toBe(''))
})

describe('Of a slide', () => {
  const body = (...paragraphs: string[]) =>
    readSlide(slide(`<p:sp>${paragraphs.join('')}</p:sp>`)).body
  const run = (text: string, properties = '') => `<a:r>${properties}<a:t>${text}</a:t></a:r>`

  it('what stands above or below the line keeps apart from numbers', () => {
    const [raised, lowered] = ['30000', '-25000'].map((by) => `<a:rPr baseline="${by}"/>`)
    expect(
      body(
        `<a:p>${run('45')}${run('2', raised)}${run(' crowns, 10')}${run('6', raised)}${run(' t of CO')}${run('2', lowered)}</a:p>`,
      ),
    ).toBe('45^2 crowns, 10^6 t of CO₂')
  })

  it('paragraphs with automatic numbers have them', () => {
    const item = (text: string, type: string, more = '') =>
      `<a:p><a:pPr ${more}><a:buAutoNum type="${type}"/></a:pPr>${run(text)}</a:p>`
    expect(
      body(
        item('one', 'arabicPeriod'),
        item('in', 'alphaLcParenBoth', 'lvl="1"'),
        item('out', 'alphaLcParenBoth', 'lvl="1"'),
        '<a:p/>',
        item('two', 'arabicPeriod'),
        paragraph('plain'),
        `<a:p><a:pPr><a:buAutoNum type="romanUcPeriod" startAt="4"/></a:pPr>${run('four')}</a:p>`,
      ).split('\n\n'),
    ).toEqual(['1. one', '(a) in', '(b) out', '2. two', 'plain', 'IV. four'])
  })

  it('a cell that spans rows or columns stands in each of them', () => {
    const cell = (text: string, more = '') => `<a:tc ${more}>${paragraph(text)}</a:tc>`
    const row = (...cells: string[]) => `<a:tr>${cells.join('')}</a:tr>`
    const table = row(cell('Quay'), cell('Fee')) + row(cell('West'), cell('4'))
    const merged = row(cell('', 'vMerge="1"'), cell('9'))
    expect(readSlide(slide(`<a:tbl>${table}${merged}</a:tbl>`)).body).toMatch(/\| West \| 9 \|$/)
    const heads = row(cell('Season', 'gridSpan="2"'), cell('', 'hMerge="1"'))
    expect(readSlide(slide(`<a:tbl>${heads}${row(cell('14'), cell('9'))}</a:tbl>`)).body).toBe(
      '| Season | Season |\n| --- | --- |\n| 14 | 9 |',
    )
  })

  it('comments and hidden slides are read and named, and what pictures show', async () => {
    const picture =
      '<p:pic><p:nvPicPr><p:cNvPr id="4" name="Picture 3" descr="A crane at quay 7"/></p:nvPicPr></p:pic>'
    const { text, warnings } = await extract({
      'ppt/presentation.xml': '<p:sldIdLst><p:sldId r:id="s1"/></p:sldIdLst>',
      'ppt/_rels/presentation.xml.rels': relations(
        relation('s1', 'slide', 'slides/slide1.xml'),
        relation('a1', 'commentAuthors', 'commentAuthors.xml'),
      ),
      'ppt/commentAuthors.xml': '<p:cmAuthorLst><p:cmAuthor id="0" name="Ada"/></p:cmAuthorLst>',
      'ppt/slides/slide1.xml': `<p:sld show="0">${shape('title', 'Cranes')}${picture}</p:sld>`,
      'ppt/slides/_rels/slide1.xml.rels': relations(
        relation('c1', 'comments', '../comments/comment1.xml'),
        relation('o1', 'package', '../embeddings/plan.csv'),
      ),
      'ppt/comments/comment1.xml':
        '<p:cmLst><p:cm authorId="0"><p:text>Which one?</p:text></p:cm></p:cmLst>',
      'ppt/embeddings/plan.csv': 'quay;fee\n7;120\n',
    })
    expect(text).toMatch(
      /## Cranes\n\n\[Picture: A crane at quay 7\]\n\n\[Comment by Ada: Which one\?\]/,
    )
    expect(text).toMatch(/## Attachment: plan\.csv\n\n- quay: 7; fee: 120/)
    expect(warnings).toEqual([
      { code: 'hidden_slides', message: 'Slides that are hidden were read, too: 1' },
    ])
  })
})
