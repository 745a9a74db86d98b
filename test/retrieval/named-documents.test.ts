import { everything } from '@agent-server/lib/visibility.ts'
import { createAnalyser } from '@agent-server/search'
import type { StoredChunk } from '@agent-server/stores'
import { describe, expect, it } from 'vitest'
import { favourNamed, namedBy } from '../../src/retrieval/named-documents.ts'

const { query: analyse } = createAnalyser('english')

function isNamed(question: string, title: string): boolean | undefined {
  return namedBy(question, analyse)?.(title)
}

describe('A question', () => {
  it.each([
    ['What did Adobe earn in FY2018?', 'ADOBE_2018_10K.pdf'],
    ['What did Adobe earn in FY18?', 'ADOBE_2018_10K.pdf'],
    ['What did American Express earn in 2018?', 'AMERICANEXPRESS_2018_10K.pdf'],
    ['the net sales of 3M in 2018', '3M_2018_10K.pdf'],
    ['restructuring at Amcor in 2023 Q2', 'AMCOR_2023Q2_10Q.pdf'],
    ['Which prices did the annual reports give for 2021?', 'Annual report FY21'],
    ['What was decided by the council in 2021?', 'Minutes of the council, 3 May 2021.docx'],
  ])('names a title that has a word and a year of it: %s – %s', (question, title) => {
    expect(isNamed(question, title)).toBe(true)
  })

  it.each([
    ['What did Adobe earn in 2018?', 'ADOBE_2017_10K.pdf'],
    ['What did Adobe earn in 2018?', 'AMCOR_2018_10K.pdf'],
    ['What was in 2018?', '2018.pdf'],
    ['What was in the year of 2018?', 'The one of 2018 in.pdf'],
    ['What did Adobe earn in 2018?', 'Adobe'],
    ['part 12018 of Adobe in 2018', 'Adobe, part 12018'],
  ])('does not name another title: %s – %s', (question, title) => {
    expect(isNamed(question, title)).toBe(false)
  })

  it('names none without a year', () => {
    expect(isNamed('What did Adobe earn?', 'ADOBE_2018_10K.pdf')).toBeUndefined()
  })
})

describe('Chunks of documents that a question names', () => {
  const rankedBy = async (titles: readonly string[], scores: readonly number[]) => {
    const named = namedBy('What did Adobe earn in 2018?', analyse)
    if (!named) throw new Error('The question has a year')
    const candidates = scores.map((score, key) => ({ key, score }))
    const chunks = titles.map((title, key): StoredChunk => {
      const place = { id: `c${key}`, ordinal: key, start: 0, end: 1, heading: '', text: 'x' }
      const document = { documentId: `d${key}`, url: undefined, metadata: undefined }
      return { key, title, ...place, ...document, collection: undefined, conversation: undefined }
    })
    const store = {
      readChunks: async (_: unknown, keys: readonly number[]) => ({
        chunks: chunks.filter(({ key }) => keys.includes(key)),
        missing: keys.filter((key) => key >= chunks.length),
      }),
    }
    const ranked = await favourNamed(store, everything(), candidates, named)
    return ranked.map(({ key }) => key)
  }
  const [asked, other] = ['ADOBE_2018_10K.pdf', 'ADOBE_2017_10K.pdf']

  it('come before those that are only a little better, in their order', async () => {
    expect(await rankedBy([other, other, asked, asked], [1, 0.9, 0.8, 0.7])).toEqual([2, 3, 0, 1])
  })

  it('come after those that are far better', async () => {
    const titles = [other, ...Array<string>(29).fill(asked)]
    const ranked = await rankedBy(titles, [10, ...Array<number>(29).fill(0)])
    expect(ranked.slice(0, 2)).toEqual([0, 1])
  })

  it('stay where all are named, or none, and where they are gone', async () => {
    expect(await rankedBy([asked, asked], [2, 1])).toEqual([0, 1])
    expect(await rankedBy([other, other], [2, 1])).toEqual([0, 1])
    expect(await rankedBy([], [2, 1])).toEqual([0, 1])
  })

  it('are looked for among the first two hundred', async () => {
    const titles = Array.from({ length: 300 }, (_, place) => (place === 250 ? asked : other))
    const scores = titles.map((_, place) => 300 - place)
    expect(await rankedBy(titles, scores)).toEqual(titles.map((_, place) => place))
  })
})
