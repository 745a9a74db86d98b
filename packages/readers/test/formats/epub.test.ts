import { describe, expect, it } from 'vitest'
import { fixture } from '../../../../test/support/forms.ts'
import { zipFile } from '../../../../test/support/zip-file.ts'
import { extractEpub } from '../../src/formats/epub.ts'
import { openZip } from '../../src/zip-archive.ts'

const CONTAINER =
  '<container><rootfiles><rootfile full-path="book/content.opf"/></rootfiles></container>'
const BOOK =
  '<opf:package><opf:manifest><opf:item id="one" href="text/one.xhtml"/><opf:item id="two" href="../two.xhtml#start"/><opf:item id="gone" href="gone.xhtml"/></opf:manifest><opf:spine><opf:itemref idref="two"/><opf:itemref idref="gone"/><opf:itemref idref="one"/></opf:spine></opf:package>'
const chapter = (body: string) =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head><body>${body}</body></html>`

const ENTRIES = {
  'META-INF/container.xml': CONTAINER,
  'book/content.opf': BOOK,
  'book/text/one.xhtml': chapter('<h2>Eins</h2><p>Der erste <a id="x"/>Satz.</p>'),
  'two.xhtml': chapter('<h2>Zwei</h2><p>Der zweite.</p>'),
}

const read = async (bytes: Buffer) => extractEpub(await openZip(bytes), async () => '')
const extract = (entries: Record<string, string>) =>
  read(zipFile(Object.entries(entries).map(([name, content]) => ({ name, content }))))

describe('A book', () => {
  it('is its chapters in the order of reading', async () => {
    const { text } = await read(fixture('swifts.epub'))
    expect(text.match(/^# .*/gm)).toEqual(['# On the wing', '# At home'])
    expect(text).toContain('ten months without landing once')
  })

  it('finds its chapters wherever they are, and does without those that are missing', async () => {
    const { text } = await extract(ENTRIES)
    expect(text).toBe('## Zwei\n\nDer zweite.\n\n## Eins\n\nDer erste Satz.\n\n')
  })

  it('may have a percent sign in the name of a chapter, escaped or not', async () => {
    const { text } = await extract({
      ...ENTRIES,
      'book/content.opf': BOOK.replace('text/one.xhtml', '100%.xhtml').replace('../two', '../5%25'),
      'book/100%.xhtml': chapter('<p>Plain.</p>'),
      '5%.xhtml': chapter('<p>Escaped.</p>'),
    })
    expect(text).toBe('Escaped.\n\nPlain.\n\n')
  })

  it('may have a page that is an image, which is not taken for text', async () => {
    const { text } = await extract({
      ...ENTRIES,
      'book/content.opf': BOOK.replace('text/one.xhtml"', 'one.jpg" media-type="image/jpeg"'),
      'book/one.jpg': 'JFIF noise',
    })
    expect(text).toBe('## Zwei\n\nDer zweite.\n\n')
  })

  it('has the labels of its drawings', async () => {
    const drawing =
      '<svg><title>Icon</title><g><text x="1">Little</text><text>tern</text></g></svg>'
    const one = chapter(`<p>See:</p><div>${drawing}</div>`)
    const { text } = await extract({ ...ENTRIES, 'book/text/one.xhtml': one })
    expect(text).toMatch(/See:\n\nLittle tern\n\n$/)
  })

  it.each(['iframe', 'canvas', 'h2', 'noscript'])(
    'may have an empty %s, which does not swallow what follows',
    async (name) => {
      const one = chapter(`<${name} class="x"/><p>The tern <br/>returns.</p>`)
      const { text } = await extract({ ...ENTRIES, 'book/text/one.xhtml': one })
      expect(text).toMatch(/Der zweite\.\n\nThe tern {2}\nreturns\.\n\n$/)
    },
  )

  it('has what its style sheets raise apart from numbers', async () => {
    const one = chapter('<p>Dues 80<span class="note">4</span></p>').replace(
      '<title/>',
      '<link rel="stylesheet" href="../book.css"/><link rel="stylesheet" href="gone.css"/>',
    )
    const sheet = 'body { margin: 0 } p .note { font-size: 60%; vertical-align: super }'
    const { text } = await extract({
      ...ENTRIES,
      'book/text/one.xhtml': one,
      'book/book.css': sheet,
    })
    expect(text).toContain('Dues 80^4')
  })

  it('is refused where a shop protects it', async () => {
    await expect(extract({ ...ENTRIES, 'META-INF/rights.xml': '<rights/>' })).rejects.toMatchObject(
      {
        code: 'encrypted_file',
      },
    )
  })

  it('is damaged without its list of parts', async () => {
    const entries = { ...ENTRIES, 'META-INF/container.xml': '<container/>' }
    await expect(extract(entries)).rejects.toMatchObject({ code: 'damaged_file' })
  })
})
