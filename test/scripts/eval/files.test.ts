import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { contentOf } from '../../../scripts/eval/files/content.ts'
import { orderRecall, rowRecall, textRecall } from '../../../scripts/eval/files/measures.ts'
import { zipFile } from '../../support/zip-file.ts'

const content = (text: string, rows: string[][] = []) => ({ text, rows })

describe('What was kept of a file is', () => {
  it('the share of its words, each as often, in any order and spelling', () => {
    const birds = content('The tern, the gull, a naïve wren')
    expect(textRecall(birds, 'a **na**ïve WREN; the gull\\_the tern')).toBe(1)
    expect(textRecall(birds, 'the tern, gull, wren')).toBe(4 / 7)
    expect(textRecall(content('…'), 'tern')).toBeUndefined()
  })

  it('the share of its phrases that are in order', () => {
    const letters = content('a b c d e f g h')
    expect(orderRecall(letters, 'a b c d, e f g h')).toBe(1)
    expect(orderRecall(letters, 'e f g h a b c d')).toBe(0.5)
    expect(orderRecall(letters, 'a b c')).toBeUndefined()
  })

  it('the share of its rows whose cells stand in one line', () => {
    const rows = content('', [
      ['Tern', '', '52'],
      ['Gull', '9'],
      ['Alone', ''],
    ])
    expect(rowRecall(rows, '- Bird: Tern; Pairs: 52\n| Gull | 9 |')).toBe(1)
    expect(rowRecall(rows, 'Tern\n52\n9 Gull')).toBe(0)
    expect(rowRecall(content(''), 'Tern')).toBeUndefined()
  })
})

const folder = await mkdtemp(join(tmpdir(), 'files-'))

describe('What a file says is read from', () => {
  const noPage = null as unknown as Page
  const read = async (name: string, bytes: string | Buffer) => {
    await writeFile(join(folder, name), bytes)
    return contentOf(join(folder, name), noPage)
  }
  const zipped = (parts: Record<string, string>) =>
    zipFile(Object.entries(parts).map(([part, xml]) => ({ name: part, content: xml })))

  it('the paragraphs of a DOCX but for what was deleted', async () => {
    const run = (text: string) => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`
    const row = `<w:tr><w:tc>${run('Tern')}</w:tc><w:tc>${run('52')}</w:tc></w:tr>`
    const body = `${run('One')}<w:del>${run('Two')}</w:del><w:tbl>${row}</w:tbl>`
    const note = `<w:footnotes>${run('Three')}</w:footnotes>`
    const parts = {
      'word/document.xml': `<w:document>${body}</w:document>`,
      'word/footnotes.xml': note,
    }
    expect(await read('a.docx', zipped(parts))).toEqual({
      text: 'One\n\nTern\n52\nThree\n',
      rows: [['Tern\n', '52\n']],
    })
  })

  it('the texts and plain numbers of an XLSX', async () => {
    const link = `<Relationship Id="r1" Type="x/worksheet" Target="worksheets/sheet1.xml"/>`
    const cells =
      '<c t="s"><v>1</v></c><c><v>7</v></c><c s="3"><v>0.5</v></c><c t="str"><v>x</v></c>'
    const parts = {
      'xl/workbook.xml': '<workbook><sheet r:id="r1"/></workbook>',
      'xl/_rels/workbook.xml.rels': `<Relationships>${link}</Relationships>`,
      'xl/sharedStrings.xml': '<sst><si><t>Gull</t></si><si><r><t>Te</t></r><t>rn</t></si></sst>',
      'xl/worksheets/sheet1.xml': `<worksheet><row>${cells}</row></worksheet>`,
    }
    expect(await read('a.xlsx', zipped(parts))).toEqual({
      text: 'Tern\n7\nx',
      rows: [['Tern', '7', 'x']],
    })
  })

  it('the slides and notes of a PPTX in their order', async () => {
    const links = (...all: string[]) => `<Relationships>${all.join('')}</Relationships>`
    const link = (id: string, type: string, to: string) =>
      `<Relationship Id="${id}" Type="x/${type}" Target="${to}"/>`
    const slide = (text: string) => `<p:sld><a:p><a:t>${text}</a:t></a:p></p:sld>`
    const parts = {
      'ppt/presentation.xml':
        '<p:presentation><p:sldId r:id="r2"/><p:sldId r:id="r1"/></p:presentation>',
      'ppt/_rels/presentation.xml.rels': links(
        link('r1', 'slide', 'slides/slide1.xml'),
        link('r2', 'slide', 'slides/slide2.xml'),
      ),
      'ppt/slides/slide1.xml': slide('Last'),
      'ppt/slides/slide2.xml': slide('First'),
      'ppt/slides/_rels/slide2.xml.rels': links(link('r1', 'notesSlide', '../notesSlides/n1.xml')),
      'ppt/notesSlides/n1.xml': slide('Noted'),
    }
    expect((await read('a.pptx', zipped(parts)))?.text).toBe('First\nNoted\nLast\n')
  })

  it('the paragraphs of an OpenDocument file', async () => {
    const xml = '<office:text><text:h>Birds</text:h><text:p>A<text:s/>tern</text:p></office:text>'
    expect((await read('a.odt', zipped({ 'content.xml': xml })))?.text).toBe('Birds\nA tern\n')
  })

  it('the cells of a CSV, whatever separates them', async () => {
    const { rows = [] } = (await read('a.csv', 'Bird;Pairs\n"Tern; little";52')) ?? {}
    expect(rows).toEqual([
      ['Bird', 'Pairs'],
      ['Tern; little', '52'],
    ])
  })

  it('no other file', async () => {
    expect(await read('a.rtf', '{\\rtf1 Tern}')).toBeUndefined()
  })
})
