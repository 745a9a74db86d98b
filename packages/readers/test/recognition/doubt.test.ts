import { describe, expect, it } from 'vitest'
import { onlyLong } from '../../../../test/support/long.ts'
import { scan } from '../../../../test/support/scan.ts'
import { extractFile } from '../../src/extract-file.ts'
import type { OcrEngine } from '../../src/extracted.ts'

const engine: OcrEngine = { kind: 'tesseract', languages: ['eng'] }

async function read(lines: readonly string[], options: Parameters<typeof scan>[1] = {}) {
  const doubtful: string[] = []
  const recognition = {
    engine,
    onPage: () => undefined,
    onUnreadable: () => undefined,
    onDoubtful: (what: string) => doubtful.push(what),
  }
  const file = {
    name: 'a.png',
    mediaType: 'image/png',
    bytes: Buffer.from(scan(lines, options).asPng()),
  }
  return { text: (await extractFile(file, recognition)).text, doubtful }
}

describe('What is recognised is said to be doubtful', () => {
  it('where its words are in no dictionary of the languages, though they are read with confidence', async () => {
    const { text, doubtful } = await read([
      'Das Hafenamt bestimmt, wann Schiffe',
      'vor der Einfahrt warten sollen und',
      'welche Liegeplätze noch frei bleiben.',
    ])
    expect(text).toContain('Hafenamt')
    expect(doubtful).toEqual(['page 1'])
  })

  it('but not for names and numbers among words of the language', async () => {
    const { doubtful } = await read([
      'Arholm and Brekke report 41 ships',
      'of Nordrederi AS, moored at B118',
      'before the winter, and 7 boats',
      'that left the harbour in spring.',
    ])
    expect(doubtful).toEqual([])
  })
})

describe('Nothing recognised', () => {
  it('may be due to the languages, says the refusal', onlyLong, async () => {
    const lines = ['Herons stand in shallow water', 'and wait for a fish to come.']
    await expect(read(lines, { isTorn: true })).rejects.toMatchObject({
      code: 'empty_document',
      message: expect.stringContaining('OCR_LANGUAGES (eng)'),
    })
  })
})

describe('A picture of which half lies in shadow', () => {
  it('is read whole', async () => {
    const lines = ['Ships longer than twelve metres', 'have to report to the harbour']
    const { text } = await read(lines, { shadow: 0.75 })
    for (const line of lines) expect(text).toContain(line)
  })
})
