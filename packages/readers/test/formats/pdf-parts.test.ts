import { PDFDocument, PDFName } from '@cantoo/pdf-lib'
import { describe, expect, it } from 'vitest'
import { extractFile } from '../../src/extract-file.ts'
import { extractPdf } from '../../src/formats/pdf.ts'
import { createPictureSearch } from '../../src/pictures.ts'
import { drawn, textOf } from './drawn-pdf.ts'
import { rawPdf, stream, text } from './raw-pdf.ts'

const read = (bytes: Buffer) => extractFile({ name: 'a.pdf', mediaType: '', bytes })

describe('Files within a PDF', () => {
  const inner = rawPdf(text('The dredger leaves in May.', 72, 700)).toString('latin1')
  const file = (name: string, n: number) =>
    `<</Type/Filespec/F(${name})/UF(${name})/EF<</F ${n} 0 R>>>>`

  it('are read after its pages, under their names', async () => {
    const names = '/Names<</EmbeddedFiles<</Names[(a) 7 0 R (b) 9 0 R]>>>>/Collection<</View/D>>'
    const objects = [
      file('permit.pdf', 8),
      stream(inner, '/Type/EmbeddedFile'),
      file('buoys.csv', 10),
      stream('buoy,depth\nB1,12\n', '/Type/EmbeddedFile'),
    ]
    const result = await read(
      rawPdf(text('Open this in a viewer.', 72, 700), { catalog: names, objects }),
    )
    expect(result.text).toMatch(
      /^Open this in a viewer\.\s+## Attachment: permit\.pdf\s+The dredger leaves in May\./,
    )
    expect(result.text).toMatch(/## Attachment: buoys\.csv\s+[^#]*B1/)
    expect(result.pageStarts).toEqual([0])
  })

  it('are read from the places of a page that they are attached to, and once', async () => {
    const names = '/Names<</EmbeddedFiles<</Names[(list.csv) 8 0 R]>>>>'
    const objects = [
      '<</Type/Annot/Subtype/FileAttachment/Rect[100 600 120 620]/FS 8 0 R>>',
      file('list.csv', 9),
      stream('port,ships\nArholm,41\n', '/Type/EmbeddedFile'),
    ]
    const page = '/Annots[7 0 R]'
    for (const catalog of ['', names]) {
      const result = await read(rawPdf(text('See the pin.', 72, 700), { catalog, page, objects }))
      expect(result.text.match(/Arholm/g)).toHaveLength(1)
    }
  })

  it('are all read where they differ, whatever they are called', async () => {
    const names =
      '/Names<</EmbeddedFiles<</Names[(a) 7 0 R (b) 9 0 R (c) 11 0 R]>>>>/Collection<</View/D>>'
    const objects = ['Arholm', 'Borholm', 'Arholm'].flatMap((port, n) => [
      file('list.txt', 8 + n * 2),
      stream(`The port of ${port}.\n`, '/Type/EmbeddedFile'),
    ])
    const result = await read(rawPdf(text('Lists.', 72, 700), { catalog: names, objects }))
    expect(result.text.match(/Arholm|Borholm/g)).toEqual(['Arholm', 'Borholm'])
  })

  it('are named with the reason if they cannot be read', async () => {
    const names = '/Names<</EmbeddedFiles<</Names[(a) 7 0 R]>>>>'
    const objects = [file('tool.exe', 8), stream('MZ\0\x01\x02\xff\xfe', '/Type/EmbeddedFile')]
    const result = await read(rawPdf(text('With a tool.', 72, 700), { catalog: names, objects }))
    expect(result.text).toMatch(/## Attachment: tool\.exe\s+\(7 bytes\. .+\)/)
  })
})

describe('A page that cannot be read', () => {
  it('is named in a warning', async () => {
    const names = ['First', 'Second', 'Last']
    const pdf = await PDFDocument.load(
      await drawn([
        ...names.map((name) => ({ texts: [[`${name} page`, 60, 100]] as const })),
        { texts: [] },
      ]),
    )
    const { context } = pdf
    const broken = context.register(context.stream(Buffer.alloc(90, 0xff)))
    pdf.getPages()[1]?.node.set(PDFName.of('Contents'), broken)
    const result = await extractPdf(Buffer.from(await pdf.save()))
    expect(result.text).toMatch(/First page\s+Last page/)
    expect(result.warnings).toEqual([
      { code: 'unreadable_pages', message: 'Could not be read, and was left out: page 2' },
    ])
  })
})

describe('A page without the picture that is looked for', () => {
  it('is not looked at, though it is damaged', async () => {
    const pdf = await PDFDocument.load(
      await drawn(['One', 'Two'].map((name) => ({ texts: [[name, 60, 100]] as const }))),
    )
    const broken = pdf.context.register(pdf.context.stream(Buffer.alloc(90, 0xff)))
    pdf.getPages()[1]?.node.set(PDFName.of('Contents'), broken)
    const bytes = Buffer.from(await pdf.save())
    const search = (mark: string) =>
      extractPdf(bytes, { pictures: createPictureSearch([mark], () => undefined) })
    expect((await search('[Picture 1 on page 1]')).warnings).toBeUndefined()
    await expect(search('[Picture 1 on page 2]')).rejects.toMatchObject({ code: 'empty_document' })
  })
})

describe('Numbers at the edges of pages', () => {
  it('are kept unless they count with the pages', async () => {
    const pages = ['120', '175', '230', '288'].map((figure, n) => ({
      texts: [
        ['Ships in a month', 60, 60, 14],
        [figure, 60, 100, 30],
        [`of the port ${'ABCD'[n]}`, 60, 130],
        [String(n + 7), 300, 780],
      ] as const,
    }))
    const result = await textOf(pages)
    for (const figure of ['120', '175', '230', '288']) expect(result).toContain(figure)
    expect(result).not.toMatch(/^(?:8|9|10)$/m)
  })
})

describe('The boxes of a form', () => {
  it('stand as ticked or not beside their labels', async () => {
    const pdf = await PDFDocument.load(
      await drawn([
        {
          texts: [
            ['Moored', 80, 100],
            ['At sea', 80, 130],
            ['Sunk', 80, 160],
          ],
        },
      ]),
    )
    const [page] = pdf.getPages()
    const form = pdf.getForm()
    for (const [n, name] of ['a', 'b', 'c'].entries()) {
      const box = form.createCheckBox(name)
      if (page) box.addToPage(page, { x: 60, y: 800 - 100 - n * 30, width: 10, height: 10 })
      if (n === 1) box.check()
    }
    const { text: result } = await extractPdf(Buffer.from(await pdf.save()))
    expect(result).toMatch(/^\[ \] Moored\s+\[x\] At sea\s+\[ \] Sunk/)
  })
})
