import {
  beginText,
  endText,
  PDFDocument,
  PDFHexString,
  PDFString,
  setFontAndSize,
  showText,
} from '@cantoo/pdf-lib'
import { describe, expect, it } from 'vitest'
import { fixture } from '../../../../test/support/forms.ts'
import { onlyLong } from '../../../../test/support/long.ts'
import { pdfFile } from '../../../../test/support/pdf-file.ts'
import { extractPdf } from '../../src/formats/pdf.ts'
import { fieldsByPage } from '../../src/formats/pdf-fields.ts'
import type { Fragment } from '../../src/formats/pdf-fragments.ts'
import { layOut } from '../../src/formats/pdf-page-layout.ts'
import { toPageTexts } from '../../src/formats/pdf-text.ts'

const pageOf = (text: string, starts: readonly number[], page: number) =>
  text.slice(starts[page - 1], starts[page]).trim()

describe('A PDF', () => {
  it('is read page by page, with each page’s offset', async () => {
    const { text, pageStarts = [] } = await extractPdf(fixture('owls.pdf'))
    expect(pageStarts).toHaveLength(3)
    expect(pageOf(text, pageStarts, 1)).toMatch(
      /^## The snowy owl\s+The snowy owl nests .* hunts lemmings by day and by night\.\nIt has white feathers\.$/s,
    )
    expect(pageOf(text, pageStarts, 2)).toMatch(/up to five lemmings a day\.$/)
    expect(pageOf(text, pageStarts, 3)).toMatch(/^## Migration\s+In winter/)
  })

  it('is read with what was typed onto a page later, and comments, but not what is hidden', async () => {
    const pdf = await PDFDocument.create()
    const page = pdf.addPage()
    const annotate = (Subtype: string, words: string, more = {}) =>
      page.node.addAnnot(
        pdf.context.register(
          pdf.context.obj({
            Type: 'Annot',
            Subtype,
            Rect: [50, 500, 250, 520],
            Contents: PDFHexString.fromText(words),
            ...more,
          }),
        ),
      )
    annotate('FreeText', 'Möwe, seen in May')
    annotate('Text', 'Really?', { T: PDFString.of('Ada') })
    annotate('Highlight', 'Count again', {
      QuadPoints: [50, 520, 250, 520, 50, 500, 250, 500],
    })
    annotate('FreeText', 'Hidden', { F: 2 })
    annotate('Popup', 'Really?')
    annotate('Text', '')
    const { text } = await extractPdf(Buffer.from(await pdf.save()))
    expect(text.trim()).toBe(
      'Möwe, seen in May\n\n[Comment by Ada: Really?]\n\n[Comment: Count again]',
    )
  })

  it('may have pages without text between others', async () => {
    const bytes = pdfFile({ pages: ['One', '', '', 'Four'] })
    const { text, pageStarts = [] } = await extractPdf(bytes)
    expect(pageStarts).toHaveLength(4)
    expect(pageOf(text, pageStarts, 1)).toBe('One')
    expect(pageOf(text, pageStarts, 2)).toBe('')
    expect(pageOf(text, pageStarts, 4)).toBe('Four')
  })

  it('may have a thousand pages', onlyLong, async () => {
    const pages = Array.from({ length: 1_000 }, (_, i) => `This is page ${i + 1}`)
    const { text, pageStarts = [] } = await extractPdf(pdfFile({ pages }))
    expect(pageStarts).toHaveLength(1_000)
    expect(pageOf(text, pageStarts, 777)).toBe('This is page 777')
  })

  it('may be in Chinese, with a font of which it has no more than the name', async () => {
    const pdf = await PDFDocument.create()
    const page = pdf.addPage()
    const CIDSystemInfo = {
      Registry: PDFString.of('Adobe'),
      Ordering: PDFString.of('GB1'),
      Supplement: 2,
    }
    const font = { Type: 'Font', BaseFont: 'SimSun' }
    const descendant = { ...font, Subtype: 'CIDFontType2', CIDSystemInfo }
    const facts = {
      ...font,
      Subtype: 'Type0',
      Encoding: 'UniGB-UCS2-H',
      DescendantFonts: [descendant],
    }
    const name = page.node.newFontDictionary('F', pdf.context.register(pdf.context.obj(facts)))
    page.pushOperators(
      beginText(),
      setFontAndSize(name, 12),
      showText(PDFHexString.of('4E2D6587')),
      endText(),
    )
    const { text } = await extractPdf(Buffer.from(await pdf.save()))
    expect(text.trim()).toBe('中文')
  })

  it('may stand anywhere in the memory of its reader', async () => {
    const bytes = fixture('owls.pdf')
    const around = Buffer.concat([Buffer.alloc(1_000), bytes, Buffer.alloc(1_000)])
    const { pageStarts } = await extractPdf(around.subarray(1_000, 1_000 + bytes.length))
    expect(pageStarts).toHaveLength(3)
  })
})

describe('A PDF is refused', () => {
  it('where it wants a password', async () => {
    await expect(extractPdf(fixture('password.pdf'))).rejects.toMatchObject({
      code: 'encrypted_file',
      message: 'The file is protected with a password',
    })
  })

  it('where no page has text or a picture, with that cause', async () => {
    await expect(extractPdf(pdfFile({ pages: ['', ''] }))).rejects.toMatchObject({
      code: 'empty_document',
      message: expect.stringMatching(/^The PDF has no text and no images/),
    })
  })

  it.each([
    ['nothing but its first line', Buffer.from('%PDF-1.7\n')],
    ['its first half', fixture('owls.pdf').subarray(0, 400)],
    ['noise behind its first line', Buffer.from(`%PDF-1.7\n${'x1 '.repeat(5_000)}`)],
  ])('where it is %s', async (_case, bytes) => {
    await expect(extractPdf(bytes)).rejects.toMatchObject({ code: 'damaged_file' })
  })
})

const LEADING = 14
/** The width of a letter. */
const WIDTH = 5

const toPageText = (fragments: readonly Fragment[]) => toPageTexts([layOut(fragments, [])])[0]

/** Lines one below the other, of the height of usual text. */
function linesOf(...lines: (string | Partial<Fragment>)[]): Fragment[] {
  return lines.map((line, i) => {
    const { text = '', ...more } = typeof line === 'string' ? { text: line } : line
    const left = more.left ?? 50
    const base = 100 + i * LEADING
    return { text, left, right: left + text.length * WIDTH, base, height: 11, ...more }
  })
}

describe('The text of a page', () => {
  it('is its lines', () => {
    expect(toPageText(linesOf('Owls hunt', 'at night.'))).toBe('Owls hunt\nat night.')
  })

  it('is nothing where there is nothing but blanks', () => {
    expect(toPageText([])).toBe('')
  })

  it('joins the pieces of a line', () => {
    const items = linesOf('Owls', { text: 'hunt', left: 74, base: 100 })
    expect(toPageText(items)).toBe('Owls hunt')
  })

  it('joins a word that a line’s end divides', () => {
    expect(toPageText(linesOf('they eat lem-', 'mings'))).toBe('they eat lemmings')
    expect(toPageText(linesOf('im Früh-', 'ling'))).toBe('im Frühling')
    expect(toPageText(linesOf('at berth B-', '118 today'))).toBe('at berth B-118 today')
  })

  it.each([
    ['a name', 'Austria-', 'Hungary', 'Austria-\nHungary'],
    ['a range', 'pages 10-', '20', 'pages 10-\n20'],
    ['a dash', 'owls -', 'herons', 'owls -\nherons'],
  ])('leaves a hyphen that is meant: %s', (_case, first, second, expected) => {
    expect(toPageText(linesOf(first, second))).toBe(expected)
  })

  it('begins a paragraph where lines are far apart', () => {
    const items = linesOf('One.', 'Two.', { text: 'Three.', base: 170 })
    expect(toPageText(items)).toBe('One.\nTwo.\n\nThree.')
  })
})

describe('A line in larger letters', () => {
  const body = ['The owl hunts at night.', 'It sleeps by day.']

  it('is a heading', () => {
    const items = linesOf({ text: 'Owls', height: 18 }, ...body)
    expect(toPageText(items)).toBe('## Owls\n\nThe owl hunts at night.\nIt sleeps by day.')
  })

  it('begins a paragraph, also in the middle', () => {
    const items = linesOf(...body, { text: 'Food', height: 15 }, 'Mice, mostly.')
    expect(toPageText(items)).toMatch(/day\.\n\n## Food\n\s*Mice, mostly\.$/)
  })

  it('goes on in lines as large', () => {
    const title = [
      { text: 'Report on the Owls of the Northern Woods and on', height: 18 },
      { text: 'What They Hunt', height: 18 },
    ]
    expect(toPageText(linesOf(...title, ...body, 'The night is long. '.repeat(20)))).toMatch(
      /^## Report on the Owls of the Northern Woods and on What They Hunt\n/,
    )
  })

  it.each([
    ['only a little larger', 'Owls', 12],
    ['too long for a title', 'Owls '.repeat(50), 18],
    ['a number', '12', 18],
    ['an item of a list', '• Owls of the woods', 18],
    ['the end of a sentence', 'and the mice of the field.', 18],
    [
      'a sentence',
      'Owls are subject to risks of what they hunt at night, and of what hunts them by day, too.',
      18,
    ],
    [
      'two sentences',
      'Owls hunt voles; Frogs hide from them at night, and so do the Mice of all the Fields around',
      18,
    ],
  ])('is none where it is %s', (_case, text, height) => {
    const read = toPageText(linesOf({ text, height }, ...body, 'The night is long. '.repeat(20)))
    expect(read).not.toContain('##')
  })

  it('is none where it is a line of a paragraph in larger letters', () => {
    const lines = [
      'The owls of the northern woods, of which more are counted each year by those who',
      'live there, hunt at night, and what they find there is mostly mice, or voles where',
      'there are no mice, and now and then a frog that has strayed too far from the water or',
      'a bird',
    ].map((text) => ({ text, height: 18 }))
    const read = toPageText(linesOf(...lines, 'The night is long. '.repeat(40)))
    expect(read).not.toContain('##')
  })

  it.each([
    '1. Owls',
    'Item 7. Owls of the woods',
    'St. Walburga and its owls',
    'What do owls hunt?',
  ])('is a heading if it is %s', (text) => {
    expect(toPageText(linesOf({ text, height: 18 }, ...body))).toContain(`## ${text}`)
  })

  it('is none where all letters are as large', () => {
    const items = linesOf({ text: 'Large', height: 30 }, { text: 'print', height: 30 })
    expect(toPageText(items)).toBe('Large\nprint')
  })
})

/** A form of two pages, filled in. */
async function filledForm(): Promise<Buffer> {
  const document = await PDFDocument.create()
  const [one, two] = [document.addPage(), document.addPage()]
  one.drawText('Application')
  const form = document.getForm()
  const name = form.createTextField('form[0].applicant[0].name[0]')
  name.setText('Ada Lovelace')
  name.addToPage(one)
  form.createTextField('empty').addToPage(one)
  const colour = form.createRadioGroup('colour')
  colour.addOptionToPage('red', one)
  colour.addOptionToPage('blue', one)
  colour.select('blue')
  const member = form.createCheckBox('member')
  member.addToPage(two)
  member.check()
  form.createCheckBox('newsletter').addToPage(two)
  const country = form.createDropdown('country')
  country.addOptions(['Germany', 'France'])
  country.select('France')
  country.addToPage(two)
  const note = form.createTextField('note')
  note.enableMultiline()
  note.setText('two\nlines')
  note.addToPage(two)
  return Buffer.from(await document.save())
}

describe('The fields of a form', () => {
  it('stand in the text of their page as they were filled in, the empty ones left out', async () => {
    const { text, pageStarts } = await extractPdf(await filledForm())
    const second = pageStarts?.[1] ?? 0
    expect(text.slice(0, second).trim()).toBe(
      'Application\n\nform.applicant.name: Ada Lovelace\ncolour: blue',
    )
    expect(text.slice(second).trim()).toBe('member: Yes\ncountry: France\nnote: two lines')
  })

  it('show what readers see, and nothing that is secret or no text', () => {
    const field = { name: 'a', page: 0, type: 'text', value: 'x' }
    const items = [{ exportValue: 'de', displayValue: 'Germany' }, { exportValue: 'fr' }, null]
    const fields = [
      { ...field, type: 'combobox', value: ['de', 'fr'], items },
      { ...field, name: 'secret', password: true },
      { ...field, name: 'button', type: 'button' },
      { ...field, name: 'nowhere', page: -1 },
      { ...field, name: 'number', value: 7 },
      { ...field, name: 7 },
      'nonsense',
    ]
    expect([...fieldsByPage([fields])]).toEqual([[1, 'a: Germany, fr']])
  })

  it('are none where there is no form', () => {
    expect(fieldsByPage([]).size).toBe(0)
  })
})

it('A PDF whose pages are one long list is read to its end', onlyLong, async () => {
  const pages = Array.from({ length: 2_500 }, (_, i) => `Owl number ${i}.`)
  const { text, pageStarts } = await extractPdf(pdfFile({ pages, pagesPerNode: pages.length }))
  expect(pageStarts).toHaveLength(2_500)
  expect(text.slice(pageStarts?.[2_499]).trim()).toBe('Owl number 2499.')
})
