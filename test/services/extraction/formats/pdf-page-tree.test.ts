import { PDFArray, PDFDict, PDFDocument, PDFName } from '@cantoo/pdf-lib'
import { describe, expect, it } from 'vitest'
import { extractPdf } from '../../../../src/services/extraction/formats/pdf.ts'
import { withShortLists } from '../../../../src/services/extraction/formats/pdf-structure.ts'
import { pdfFile } from '../../../support/pdf-file.ts'

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
