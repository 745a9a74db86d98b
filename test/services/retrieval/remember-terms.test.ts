import { expect, it } from 'vitest'
import { type Analyser, createAnalyser } from '../../../src/indexes/analyser/analyser.ts'
import { rememberTerms } from '../../../src/services/retrieval/feedback.ts'
import type { StoredChunk } from '../../../src/stores/document-store.ts'

const analyser = createAnalyser('english')

/** Counts the analyses; `found` looks a chunk up. */
function createForTest() {
  const analysed: string[] = []
  const batch: Analyser['batch'] = (chunks) => {
    const list = [...chunks]
    analysed.push(...list.map(({ text }) => text))
    return analyser.batch(list)
  }
  return { analysed, found: rememberTerms({ batch }) }
}

function chunkOf(key: number): StoredChunk {
  const source = {
    id: `${key}`,
    documentId: `${key}`,
    title: 'A title',
    url: undefined,
    metadata: undefined,
  }
  const text = `turbine ${key}`
  return { ...source, key, ordinal: 0, text, heading: '', start: 0, end: text.length }
}

it('gives the terms that the analyser gives, and analyses a chunk once', () => {
  const { analysed, found } = createForTest()
  expect(found(chunkOf(1))).toEqual(analyser.batch([chunkOf(1)]))
  expect(found(chunkOf(1))).toEqual(analyser.batch([chunkOf(1)]))
  expect(found(chunkOf(2))).toEqual(analyser.batch([chunkOf(2)]))
  expect(analysed).toEqual(['turbine 1', 'turbine 2'])
})

it('forgets what was not asked for lately, and keeps what was', () => {
  const { analysed, found } = createForTest()
  for (let key = 1; key <= 20_000; key++) {
    found(chunkOf(key))
    found(chunkOf(1))
  }
  expect(analysed.filter((text) => text === 'turbine 1')).toHaveLength(1)
  found(chunkOf(2))
  expect(analysed.filter((text) => text === 'turbine 2')).toHaveLength(2)
})
