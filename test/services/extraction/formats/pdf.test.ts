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
import { extractPdf } from '../../../../src/services/extraction/formats/pdf.ts'
import { fixture } from '../../../support/forms.ts'
import { pdfFile } from '../../../support/pdf-file.ts'

const pageOf = (text: string, starts: readonly number[], page: number) =>
  text.slice(starts[page - 1], starts[page]).trim()

describe('A PDF', () => {
  it('is read page by page, and tells where each begins', async () => {
    const { text, pageStarts = [] } = await extractPdf(fixture('owls.pdf'))
    expect(pageStarts).toHaveLength(3)
    expect(pageOf(text, pageStarts, 1)).toMatch(
      /^## The snowy owl\s+The snowy owl nests .* hunts lemmings by day and by night\.\nIt has white feathers\.$/s,
    )
    expect(pageOf(text, pageStarts, 2)).toMatch(/up to five lemmings a day\.$/)
    expect(pageOf(text, pageStarts, 3)).toMatch(/^## Migration\s+In winter/)
  })

  it('may have pages without text between others', async () => {
    const bytes = pdfFile({ pages: ['One', '', '', 'Four'] })
    const { text, pageStarts = [] } = await extractPdf(bytes)
    expect(pageStarts).toHaveLength(4)
    expect(pageOf(text, pageStarts, 1)).toBe('One')
    expect(pageOf(text, pageStarts, 2)).toBe('')
    expect(pageOf(text, pageStarts, 4)).toBe('Four')
  })

  it('may have a thousand pages', async () => {
    const pages = Array.from({ length: 1_000 }, (_, i) => `This is page ${i + 1}`)
    const { text, pageStarts = [] } = await extractPdf(pdfFile({ pages }))
    expect(pageStarts).toHaveLength(1_000)
    expect(pageOf(text, pageStarts, 777)).toBe('This is page 777')
  })

  it('may be in Chinese, with a font of which it has no more than the name', async () => {
    const pdf = await PDFDocument.create()
    const page = pdf.addPage()
    const CIDSystemInfo = {
      ...{ Registry: PDFString.of('Adobe'), Ordering: PDFString.of('GB1'), Supplement: 2 },
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
      ...{ code: 'encrypted_file', message: 'The file is protected with a password' },
    })
  })

  it('where no page has text, with what to do', async () => {
    await expect(extractPdf(pdfFile({ pages: ['', ''] }))).rejects.toMatchObject({
      ...{ code: 'empty_document', message: expect.stringMatching(/where OCR is off/) },
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
