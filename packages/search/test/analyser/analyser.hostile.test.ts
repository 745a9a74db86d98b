import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { isLong, long, onlyLong } from '../../../../test/support/long.ts'
import { processorMs } from '../../../../test/support/processor-time.ts'
import { createRandom } from '../../../../test/support/random.ts'
import { createAnalyser } from '../../src/analyser/analyser.ts'
import { ANALYSER_LANGUAGES } from '../../src/analyser/languages.ts'

/** How many code units stand for a million. */
const MILLION = isLong ? 300_000 : 50_000
const MEGABYTE = 1_000_000
setFlagsFromString('--expose_gc')
const collectGarbage = runInNewContext('gc')
/** Far above what these texts take on a slow machine, far below what quadratic time would. */
const LIMIT_MS = isLong ? 5_000 : 1_500

const analyser = createAnalyser('english')

function analyse(text: string) {
  const { terms, lengths } = analyser.batch([{ heading: '', text }])
  return { terms, length: lengths[0] ?? 0 }
}

describe('The analyser on hostile text', () => {
  it.each<[string, string, number]>([
    ['one letter ten million times', 'a'.repeat(10 * MILLION), 3],
    ['a million apostrophes between letters', "a'".repeat(MILLION), 10],
    ['a million marks on one letter', `a${'\u0301'.repeat(MILLION)}`, 2],
    ['marks that have to be put in order', '\u0301\u0316'.repeat(MILLION / 2), 0],
    ['one Han character a million times', '漢'.repeat(MILLION), 2],
    ['Thai without an end', 'ก'.repeat(MILLION), 2],
    ['one character that stands for eighteen', '\ufdfa'.repeat(MILLION), 10],
    ['a million separators', ' \n'.repeat(MILLION / 2), 0],
    ['halves of surrogate pairs', '\ud800'.repeat(MILLION), 0],
    ['two code units without a separator', '𠮷'.repeat(MILLION / 2), 2],
    ['mathematical letters', '𝐀'.repeat(MILLION / 2), 10],
    ['joiners between letters', 'a\u200d'.repeat(MILLION), 10],
  ])('takes linear time and few terms: %s', long, (_case, text, most) => {
    const begun = processorMs()
    expect(analyse(text).terms.length).toBeLessThanOrEqual(most)
    expect(processorMs() - begun).toBeLessThan(LIMIT_MS)
  })

  it('cuts no word where it cuts the text into pieces', () => {
    const sentence = 'aerodynamic 空気力学 heating, '
    const text = sentence.repeat(3_000)
    expect(analyse(text).terms).toEqual(analyse(sentence).terms)
    expect(analyse(text).length).toBe(3_000 * analyse(sentence).length)
  })

  it('caches a bounded number of words, and no text that contained them', onlyLong, () => {
    // Without stems, which take most of the time and none of the memory.
    const unstemmed = createAnalyser('none')
    const padding = 'common words of the text, again and again '.repeat(350)
    /** How much memory is kept of `texts` texts with `words` words in each that were never met before. */
    const meet = (name: string, texts: number, words: number, others = '') => {
      const before = heapUsed()
      for (let i = 0; i < texts; i++) {
        const rare = Array.from({ length: words }, (_, n) => `averyrareidentifier${name}x${i}x${n}`)
        unstemmed.batch([{ heading: '', text: `${others}${rare.join(' ')}` }])
      }
      return heapUsed() - before
    }
    expect(meet('single', isLong ? 3_000 : 500, 1, padding)).toBeLessThan(5 * MEGABYTE)
    meet('fill', isLong ? 140 : 70, 1_000)
    expect(meet('more', isLong ? 280 : 70, 1_000)).toBeLessThan(5 * MEGABYTE)
  })

  it.each(ANALYSER_LANGUAGES)('never throws, whatever the characters (%s)', long, (language) => {
    const random = createRandom(7)
    const analyser = createAnalyser(language)
    for (let i = 0; i < (isLong ? 200 : 10); i++) {
      const units = Array.from({ length: 50 }, () => random.below(0x10000))
      const text = String.fromCharCode(...units)
      const { terms, counts, lengths } = analyser.batch([{ title: text, heading: text, text }])
      expect(terms.length).toBe(counts.length)
      expect(lengths[0]).toBeGreaterThanOrEqual(0)
    }
  })
})

function heapUsed(): number {
  collectGarbage()
  return process.memoryUsage().heapUsed
}
