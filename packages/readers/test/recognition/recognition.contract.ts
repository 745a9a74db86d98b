import { describe, expect, it } from 'vitest'
import { fixture } from '../../../../test/support/forms.ts'
import { onlyLong } from '../../../../test/support/long.ts'
import { scan } from '../../../../test/support/scan.ts'
import { extractFile } from '../../src/extract-file.ts'
import type { OcrEngine } from '../../src/extracted.ts'

const LINES = ['Herons stand in shallow water', 'and wait for a fish to come.']

/** What every engine does that recognises text. */
export function describeRecognition(name: string, engine: OcrEngine): void {
  const read = async (bytes: Uint8Array) => {
    const recognition = { engine, onPage: () => undefined, onUnreadable: () => undefined }
    const file = { name: 'a.png', mediaType: '', bytes: Buffer.from(bytes) }
    return (await extractFile(file, recognition)).text.trim()
  }
  const linesIn = async (bytes: Uint8Array) => (await read(bytes)).split(/\n+/)

  describe(name, () => {
    it('reads a page', async () => {
      expect(await linesIn(scan(LINES).asPng())).toEqual(LINES)
    })

    it.each([
      ['askew', { slope: 4 }],
      ['on its side', { turn: 90 }],
      ['on its other side', { turn: 270 }],
      ['upside down', { turn: 180 }],
      ['faint', { ink: '#aaa' }],
    ])('reads it though it is %s', onlyLong, async (_case, options) => {
      expect(await linesIn(scan(LINES, options).asPng())).toEqual(LINES)
    })

    it.each(['heron.webp', 'heron-lossy.webp', 'heron.tif'])('reads %s', async (file) => {
      expect(await read(fixture(file))).toBe('Herons stand in shallow water')
    })

    it('reads columns of prose one after the other, and the lines of a table as they are', async () => {
      const left = [
        ...LINES,
        'They nest in old, high trees',
        'near rivers and quiet lakes.',
        'Their young leave the nest',
        'after two months or later.',
      ]
      const right = [
        'Storks walk through meadows',
        'and look for frogs and mice.',
        'They nest on roofs of houses',
        'and on chimneys of villages.',
        'In autumn they fly to Africa',
        'and come back in the spring.',
      ]
      // Fewer lines are not taken for columns.
      const long = [...left, ...left]
      const columns = scan(long, { height: 580, right: [...right, ...right] })
      expect(await linesIn(columns.asPng())).toEqual([...long, ...right, ...right])
      const table = scan(['Grey heron', 'Egret', 'Bittern'], {
        height: 200,
        right: ['175 cm', '95 cm', '80 cm'],
      })
      expect(await linesIn(table.asPng())).toEqual([
        'Grey heron 175 cm',
        'Egret 95 cm',
        'Bittern 80 cm',
      ])
    })

    it('finds nothing on an empty page, and what is no picture is damaged', async () => {
      await expect(read(scan([], { height: 100 }).asPng())).rejects.toMatchObject({
        code: 'empty_document',
      })
      const damaged = Buffer.from(scan(LINES).asPng()).fill(0, 100)
      await expect(read(damaged)).rejects.toMatchObject({ code: 'damaged_file' })
    })
  })
}
