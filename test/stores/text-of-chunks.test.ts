import { describe, expect, it } from 'vitest'
import { splitText } from '../../src/services/ingestion/split/split-text.ts'
import { textOfChunks } from '../../src/stores/chunk-codec.ts'
import { randomText, seededRandom } from '../services/ingestion/random-text.ts'

const withoutBlanks = (text: string) => text.replaceAll(/\s+/g, '\n').trim()

describe('The text of chunks', () => {
  it('is the text that they were cut from, blanks apart', () => {
    for (let seed = 0; seed < 20; seed++) {
      const text = randomText(seededRandom(seed), 5_000)
      const found = textOfChunks(splitText(text))
      expect(withoutBlanks(found)).toBe(withoutBlanks(text))
    }
  })

  it('has every character where it stood', () => {
    const text = `${'Eulen jagen nachts. '.repeat(200)}\n\n\n${'Reiher warten am Ufer. '.repeat(200)}`
    const found = textOfChunks(splitText(text))
    expect(found.slice(4_003, 4_009)).toBe('Reiher')
    expect(found).toHaveLength(text.trimEnd().length)
  })

  it('is empty where there are none', () => {
    expect(textOfChunks([])).toBe('')
  })
})
