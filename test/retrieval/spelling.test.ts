import { everything } from '@agent-server/lib/visibility.ts'
import { createAnalyser } from '@agent-server/search'
import { describe, expect, it } from 'vitest'
import { createSource, seen } from '../../packages/search/test/contracts/chunk-index.fixture.ts'
import { correctTerms, correctText, createSpelling } from '../../src/retrieval/spelling.ts'
import { openEmbeddedIndex } from '../support/embedded-index.ts'

const TEXTS = [
  'The password of the database is changed by the administrator.',
  'A replication slot keeps the files of the write-ahead log.',
  'The ferry leaves the harbour at noon. The harbour has three berths.',
  'Partitions of a table are made by range, and a partition may be a table.',
  'An error E1042 ends the conversion.',
]
const SECRET = 'The takeover of Falkenberg is secret.'

const analyser = createAnalyser('english')
const source = createSource()
const index = await openEmbeddedIndex(source)
const batch = analyser.batch([...TEXTS, SECRET].map((text) => ({ heading: '', text })))
const keys = Uint32Array.from({ length: batch.size }, (_, key) => key)
await index.add(keys, batch, [])
for (const key of keys) source.metadata.set(key, { secret: key === TEXTS.length })

const correct = createSpelling({ index, analyser, language: 'english' })
const corrected = async (text: string) => correctText(text, await correct(text, everything()))

describe('The spelling of a question', () => {
  it.each([
    ['chnage the pasword of the databse', 'change the password of the database'],
    ['When does the fery leave the harbor?', 'When does the ferry leave the harbour?'],
    ['paritioning by range', 'partitioning by range'],
    ['REPLICATON sltos', 'replication slots'],
    ['ferry ferrry ferrry', 'ferry ferry ferry'],
  ])('“%s” becomes “%s”', async (typed, meant) => {
    expect(await corrected(typed)).toBe(meant)
  })

  it.each([
    ['a word that documents have', 'a ferry without berths'],
    ['a word that is far from all', 'the ferry of the zoologist'],
    ['a short word', 'the lof'],
    ['what may be a stop word', 'wich ferry'],
    ['a code', 'error E1043 FERRYS_7 fery2'],
    ['a name in another script', 'паром 渡船'],
    ['words of another language', 'Wann verlässt die Ferri den Harboor?'],
    ['nothing', ''],
  ])('is left as it is with %s', async (_case, typed) => {
    expect(await corrected(typed)).toBe(typed)
  })

  it('counts a corrected word less than a right one', async () => {
    const typed = analyser.query('ferry habrour')
    const { terms, counts } = correctTerms(typed, await correct('ferry habrour', everything()))
    expect([...terms]).toEqual([...analyser.query('ferry harbour').terms])
    expect(counts[0]).toBe(1)
    expect(counts[1]).toBeCloseTo(0.7)
  })

  it('goes by the words of what is visible alone', async () => {
    const typed = 'takeover of Falkenbrg'
    expect(correctText(typed, await correct(typed, everything()))).toBe('takeover of falkenberg')
    const outside = seen({ field: 'secret', in: [false] })
    expect(await correct(typed, outside)).toEqual([])
  })

  it('corrects the first three unknown words', async () => {
    const corrections = await correct('pasword databse fery habrour replicaton', everything())
    expect(corrections.map(({ word }) => word)).toEqual(['password', 'database', 'ferry'])
  })

  it('is left as it is if the index cannot count words', async () => {
    const unable = createSpelling({ index: {}, analyser, language: 'english' })
    expect(await unable('the pasword', everything())).toEqual([])
  })
})
