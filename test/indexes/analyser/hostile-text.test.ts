import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { createAnalyser } from '../../../src/indexes/analyser/analyser.ts'
import { ANALYSER_LANGUAGES } from '../../../src/indexes/analyser/stemming.ts'
import { createRandom } from '../embedded/random-chunks.ts'

const MEGABYTE = 1_000_000
setFlagsFromString('--expose_gc')
const collectGarbage = runInNewContext('gc')
/** Far above what these texts take on a slow machine, far below what quadratic time would. */
const LIMIT_MS = 15_000

function analyse(text: string) {
  return createAnalyser('english').analyse({ heading: '', text })
}

describe('The analyser on hostile text', () => {
  it.each<[string, string, number]>([
    ['one letter ten million times', 'a'.repeat(10 * MEGABYTE), 3],
    ['a million apostrophes between letters', "a'".repeat(MEGABYTE), 10],
    ['a million marks on one letter', `a${'\u0301'.repeat(MEGABYTE)}`, 2],
    ['marks that have to be put in order', '\u0301\u0316'.repeat(MEGABYTE / 2), 0],
    ['one Han character a million times', '漢'.repeat(MEGABYTE), 2],
    ['Thai without an end', 'ก'.repeat(MEGABYTE), 2],
    ['one character that stands for eighteen', '\ufdfa'.repeat(MEGABYTE), 10],
    ['a million separators', ' \n'.repeat(MEGABYTE / 2), 0],
    ['halves of surrogate pairs', '\ud800'.repeat(MEGABYTE), 0],
    ['two code units without a separator', '𠮷'.repeat(MEGABYTE / 2), 2],
    ['mathematical letters', '𝐀'.repeat(MEGABYTE / 2), 10],
    ['joiners between letters', 'a\u200d'.repeat(MEGABYTE), 10],
  ])('takes linear time and few terms: %s', (_case, text, most) => {
    const begun = performance.now()
    expect(analyse(text).terms.length).toBeLessThanOrEqual(most)
    expect(performance.now() - begun).toBeLessThan(LIMIT_MS)
  })

  it('cuts no word where it cuts the text into pieces', () => {
    const sentence = 'aerodynamic 空気力学 heating, '
    const text = sentence.repeat(3_000)
    expect(analyse(text).terms).toEqual(analyse(sentence).terms)
    expect(analyse(text).length).toBe(3_000 * analyse(sentence).length)
  })

  it('keeps words, not the texts that it met them in, and of words only so many', () => {
    const analyser = createAnalyser('english')
    const padding = 'common words of the text, again and again '.repeat(350)
    const meet = (words: number, text: string) => {
      const before = heapUsed()
      for (let i = 0; i < words; i++) {
        analyser.analyse({ heading: '', text: `${text}averyrareidentifier${words}x${i}` })
      }
      return heapUsed() - before
    }
    expect(meet(3_000, padding)).toBeLessThan(10 * MEGABYTE)
    meet(140_000, '')
    expect(meet(280_000, '')).toBeLessThan(10 * MEGABYTE)
  })

  it.each(ANALYSER_LANGUAGES)('never throws, whatever the characters (%s)', (language) => {
    const random = createRandom(7)
    const analyser = createAnalyser(language)
    for (let i = 0; i < 200; i++) {
      const units = Array.from({ length: 50 }, () => random.below(0x10000))
      const text = String.fromCharCode(...units)
      const { terms, counts, length } = analyser.analyse({ title: text, heading: text, text })
      expect(terms.length).toBe(counts.length)
      expect(length).toBeGreaterThanOrEqual(0)
    }
  })
})

function heapUsed(): number {
  collectGarbage()
  return process.memoryUsage().heapUsed
}
