import { PDFArray, PDFDict, PDFDocument, PDFName } from '@cantoo/pdf-lib'
import { describe, expect, it } from 'vitest'
import { extractPdf } from '../../../../src/services/extraction/formats/pdf.ts'
import {
  fieldsByPage,
  withShortLists,
} from '../../../../src/services/extraction/formats/pdf-structure.ts'
import { pdfFile } from '../../../support/pdf-file.ts'

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

const pages = (count: number) => Array.from({ length: count }, (_, i) => `Owl number ${i}.`)
const flat = (count: number) => pdfFile({ pages: pages(count), pagesPerNode: count })

/** How many kids each node of the tree has. */
async function listsOf(bytes: Uint8Array): Promise<number[]> {
  const { catalog, context } = await PDFDocument.load(bytes)
  const lists: number[] = []
  const visit = (node: unknown) => {
    const kids = node instanceof PDFDict ? node.lookup(PDFName.of('Kids')) : undefined
    if (!(kids instanceof PDFArray)) return
    lists.push(kids.size())
    for (const kid of kids.asArray()) visit(context.lookup(kid))
  }
  visit(catalog.Pages())
  return lists
}

describe('A PDF whose pages are one long list', () => {
  it('gets short ones, with every page in its place', async () => {
    const bytes = flat(350)
    expect(await listsOf(bytes)).toEqual([1, 350])
    const shortened = await withShortLists(bytes)
    expect(await listsOf(shortened ?? bytes)).toEqual([1, 4, 100, 100, 100, 50])
    const { text, pageStarts } = await extractPdf(Buffer.from(shortened ?? []))
    expect(text.trim().split('\n\n')).toEqual(pages(350))
    expect(pageStarts).toHaveLength(350)
  })

  it('is read to its end', async () => {
    const { text, pageStarts } = await extractPdf(flat(2_500))
    expect(pageStarts).toHaveLength(2_500)
    expect(text.slice(pageStarts?.[2_499]).trim()).toBe('Owl number 2499.')
  })
})

describe('A PDF is left as it is', () => {
  it.each([
    ['whose lists are short', pdfFile({ pages: pages(120) })],
    ['that is none', Buffer.from('%PDF-1.4 nonsense')],
  ])('%s', async (_which, bytes) => {
    expect(await withShortLists(bytes)).toBeUndefined()
  })
})
