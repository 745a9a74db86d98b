import type { SearchMode } from '@agent-server/schemas/query.ts'
import { createAnalyser, mixQueryTerms } from '@agent-server/search'
import type { StoredChunk } from '@agent-server/stores'
import { expect, it } from 'vitest'
import { createTermsOfChunk, scoresOf } from '../../src/retrieval/relevance.ts'

const analyser = createAnalyser('english')

const QUESTION = 'When do owls hunt for mice?'

interface Match {
  text: string
  title?: string
  heading?: string
  dense?: number
  rerank?: number
}

function scores(mode: SearchMode, matches: Match[], terms = analyser.query(QUESTION)) {
  const found = matches.map(({ text, title, heading = '', ...stages }, key) => {
    const place = { key, ordinal: 0, start: 0, end: text.length, url: undefined }
    const chunk: StoredChunk = {
      ...place,
      id: `${key}`,
      documentId: 'd',
      text,
      title,
      heading,
      collection: undefined,
      conversation: undefined,
      metadata: undefined,
    }
    return { key, score: 77, chunk, ...stages }
  })
  return scoresOf(found, { terms, mode }, (chunk) => analyser.batch([chunk]).terms)
}

it('a search by words scores the share of the words that a chunk, its title or a heading contains', () => {
  const all = { text: 'An owl hunts a mouse, or mice.' }
  const inTitle = { title: 'Owls', text: 'They sleep.' }
  const inHeading = { heading: 'Birds > Owls', text: 'They sleep.' }
  expect(scores('lexical', [all])).toEqual([1])
  expect(scores('lexical', [inTitle, inHeading])).toEqual([1 / 3, 1 / 3])
  expect(scores('lexical', [{ text: 'Nothing of that.' }])).toEqual([0])
})

it('words of earlier questions count as much as they do in the search', () => {
  const terms = mixQueryTerms(['owls', 'mice'].map(analyser.query), 0.5)
  expect(scores('lexical', [{ text: 'Owls.' }], terms)).toEqual([2 / 3])
})

it('a search by meaning scores the cosine, from 0 on, and the words alone where there is none', () => {
  const found = [{ text: 'Owls.', dense: 0.4 }]
  expect(scores('dense', found)).toEqual([0.4])
  expect(scores('dense', [{ text: 'Owls.', dense: -0.4 }])).toEqual([0])
  expect(scores('dense', [{ text: 'Owls.' }])).toEqual([1 / 3])
})

it('a search by both scores both', () => {
  expect(scores('hybrid', [{ text: 'Owls.', dense: 0.5 }])).toEqual([
    expect.closeTo(0.4 / 3 + 0.6 * 0.5),
  ])
})

it('a question without telling words scores by meaning alone what that contributes', () => {
  const nothing = analyser.query('?')
  expect(scores('hybrid', [{ text: 'Owls.', dense: 0.5 }], nothing)).toEqual([0.3])
})

it('a reranker has the last word', () => {
  expect(scores('hybrid', [{ text: 'Owls.', dense: 0.5, rerank: 0.93 }])).toEqual([0.93])
})

it('no hit scores less than the one after it', () => {
  const [first, second, third] = [
    { text: 'Owls.', dense: 0.2 },
    { text: 'Owls.', dense: 0.7 },
    { text: 'Owls.', dense: 0.5 },
  ]
  expect(scores('dense', [first, second, third])).toEqual([0.7, 0.7, 0.5])
})

it('the terms of a chunk are found once, and those that were found first are forgotten', () => {
  const analysed: string[] = []
  const termsOf = createTermsOfChunk({
    batch(chunks) {
      const [chunk] = chunks
      analysed.push(chunk?.text ?? '')
      return analyser.batch(chunk ? [chunk] : [])
    },
  })
  const chunkOf = (key: number): StoredChunk => ({
    key,
    id: `${key}`,
    documentId: 'd',
    ordinal: 0,
    text: `owl number ${key}`,
    heading: '',
    start: 0,
    end: 1,
    title: undefined,
    url: undefined,
    collection: undefined,
    conversation: undefined,
    metadata: undefined,
  })
  expect(termsOf(chunkOf(1))).toEqual(analyser.batch([chunkOf(1)]).terms)
  expect(termsOf(chunkOf(1))).toBe(termsOf(chunkOf(1)))
  expect(analysed).toEqual(['owl number 1'])
  for (let key = 2; key <= 4_097; key += 1) termsOf(chunkOf(key))
  termsOf(chunkOf(4_097))
  expect(analysed).toHaveLength(4_097)
  termsOf(chunkOf(1))
  expect(analysed).toHaveLength(4_098)
})
