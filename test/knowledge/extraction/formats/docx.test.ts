import { describe, expect, it } from 'vitest'
import { extractDocx } from '../../../../src/knowledge/extraction/formats/docx.ts'
import { fixture } from '../../../support/forms.ts'
import { zipFile } from '../../../support/zip-file.ts'

const NAMESPACE = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
const PARTS = {
  '[Content_Types].xml':
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="xml" ContentType="application/xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>',
  '_rels/.rels':
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>',
}

const seeNothing = async () => ''
const paragraph = (text: string) => `<w:p><w:r><w:t xml:space="preserve">${text}</w:t></w:r></w:p>`
const documentOf = (body: string) =>
  zipFile(
    Object.entries({
      ...PARTS,
      'word/document.xml': `<w:document ${NAMESPACE}><w:body>${body}</w:body></w:document>`,
    }).map(([name, content]) => ({ name, content })),
  )

describe('A Word document', () => {
  it('keeps its headings, lists and tables', async () => {
    const { text, pageStarts } = await extractDocx(fixture('herons.docx'), seeNothing)
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

  it('is its paragraphs, and knows what is markup', async () => {
    const bytes = documentOf(
      `${paragraph('One &lt;two&gt; &amp; three.')}${paragraph('Vier: ä 👋')}`,
    )
    expect((await extractDocx(bytes, seeNothing)).text).toBe('One <two> & three.\n\nVier: ä 👋')
  })

  it('leaves out what was deleted while changes are tracked', async () => {
    const deleted =
      '<w:p><w:del><w:r><w:delText>Old</w:delText></w:r></w:del><w:ins><w:r><w:t>New</w:t></w:r></w:ins></w:p>'
    expect((await extractDocx(documentOf(deleted), seeNothing)).text).toBe('New')
  })

  it('may be empty', async () => {
    expect((await extractDocx(documentOf(''), seeNothing)).text).toBe('')
  })

  it('is no document where its main part is none', async () => {
    const bytes = zipFile([{ name: 'word/document.xml', content: 'no XML' }])
    await expect(extractDocx(bytes, seeNothing)).rejects.toThrow()
  })
})
