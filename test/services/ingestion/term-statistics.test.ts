import { randomUUID } from 'node:crypto'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createAnalyser } from '../../../src/indexes/analyser/analyser.ts'
import type { TermBatch } from '../../../src/indexes/term-batch.ts'
import { countTerms } from '../../../src/services/ingestion/term-counts.ts'
import { createTermStatistics } from '../../../src/services/ingestion/term-statistics.ts'
import type { DocumentStore } from '../../../src/stores/document-store.ts'
import { createSqliteData } from '../../stores/sqlite/store-data.ts'

const analyser = createAnalyser('english')
const log = { info: () => undefined, warn: () => undefined }
const idle = new AbortController().signal

async function openStatistics() {
  const data = await createSqliteData()
  const store = await data.open()
  onTestFinished(async () => {
    await store.close()
    await data.remove()
  })
  return { store, statistics: statisticsOn(store) }
}

function statisticsOn(store: DocumentStore) {
  const preparer = {
    analyse: async (chunks: Parameters<typeof analyser.batch>[0]) => analyser.batch(chunks),
  }
  return createTermStatistics({ store, preparer, analyser: analyser.fingerprint, log })
}

const termOf = (word: string) => analyser.query(word).terms[0] ?? 0

async function take(store: DocumentStore, id: string, texts: readonly string[], isCounted = true) {
  await store.put({ id, text: texts.join(' ') })
  const [job] = await store.claimJobs(1)
  if (!job) throw new Error('No job is due')
  const first = await store.reserveChunkKeys(texts.length)
  const chunks = texts.map((text, ordinal) => ({
    ...{ key: first + ordinal, ordinal, text, heading: '', start: 0, end: text.length },
  }))
  const batch: TermBatch = analyser.batch(chunks)
  const counted = { ...countTerms(batch), analyser: analyser.fingerprint }
  await store.completeJob(job, chunks, undefined, isCounted ? counted : undefined)
}

describe('The statistics of terms', () => {
  it('say how many chunks hold a term, and follow what comes and goes', async () => {
    const { store, statistics } = await openStatistics()
    await take(store, 'otters', ['Otters swim.', 'Otters and otters eat.'])
    await take(store, 'beavers', ['Beavers swim.'])
    await statistics.refresh()
    expect(statistics.chunks()).toBe(3)
    expect(statistics.length()).toBe(2 + 3 + 2)
    expect(['otters', 'swim', 'whales'].map(termOf).map(statistics.holding)).toEqual([2, 2, 0])
    await take(store, 'otters', ['Otters sleep.'])
    await store.delete('beavers')
    await statistics.refresh()
    expect(['otters', 'swim', 'sleep'].map(termOf).map(statistics.holding)).toEqual([1, 0, 1])
  })

  it('stay the same when entries are summed up, by whichever server, in a bounded number', async () => {
    const { store, statistics } = await openStatistics()
    const other = statisticsOn(store)
    const count = async () => (await store.terms.entries(analyser.fingerprint)).length
    for (const each of [statistics, other]) {
      const ids = Array.from({ length: 40 }, (_, i) => `otter-${i}-${randomUUID()}`)
      for (const [i, id] of ids.entries()) await take(store, id, [`Otter number ${i}`])
      for (const id of ids.slice(0, 10)) await store.delete(id)
      await each.refresh()
    }
    await Promise.all([statistics.refresh(), other.refresh()])
    expect(await count()).toBeLessThan(70)
    const whole = await store.chunkKeys()
    for (const each of [statistics, other, statisticsOn(store)]) {
      await each.refresh()
      expect([each.chunks(), each.holding(termOf('otter'))]).toEqual([whole.length, whole.length])
      expect(each.holding(termOf('35'))).toBe(2)
      expect(each.holding(termOf('5'))).toBe(0)
    }
  })

  it('are completed by documents that were taken in while nobody counted', async () => {
    const { store, statistics } = await openStatistics()
    await take(store, 'otters', ['Otters swim.', 'Otters eat.'], false)
    await take(store, 'beavers', ['Beavers swim.'])
    await statistics.complete(idle)
    await statistics.complete(idle)
    expect(statistics.chunks()).toBe(3)
    expect(['otters', 'swim'].map(termOf).map(statistics.holding)).toEqual([2, 2])
  })
})
