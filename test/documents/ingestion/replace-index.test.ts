import { setTimeout as pause } from 'node:timers/promises'
import { everything } from '@agent-server/lib/visibility.ts'
import type { DocumentStore } from '@agent-server/stores'
import { describe, expect, it, onTestFinished } from 'vitest'
import { qdrantOptionsAt } from '../../../packages/index-qdrant/test/qdrant-index.ts'
import { createSqliteData } from '../../../packages/stores/test/sqlite/store-data.ts'
import { completeIndex, replaceIndex } from '../../../src/documents/ingestion/replace-index.ts'
import { openEmbeddedIndex } from '../../support/embedded-index.ts'
import { isLong, onlyLong } from '../../support/long.ts'
import { startFakeQdrant } from '../../support/qdrant/fake-qdrant.ts'
import { createRunning, openParts, type Parts, silent } from './ingestion-parts.ts'
import { replaceWhilePublishing } from './replacement-schedule.ts'

async function openFilled(count: number): Promise<Parts> {
  const parts = await openParts()
  await addDocuments(parts, 'document', count)
  return parts
}

async function addDocuments(parts: Parts, name: string, count: number) {
  const running = createRunning(parts, { concurrency: 128 })
  await running.start()
  const ids = Array.from({ length: count }, (_, i) => `${name}${i}`)
  await Promise.all(ids.map((id) => parts.store.add({ id, text: `All about ${id}.` })))
  for (const id of ids) await expect.poll(() => statusOf(parts, id)).toBe('ready')
  await running.stop(1_000)
}

const statusOf = async ({ store }: Parts, id: string) => (await store.get(everything(), id))?.status
const never = new AbortController().signal

describe('The replacement of an index', () => {
  it('fills the new one before it serves, with progress, and adds what came until it did', async () => {
    const parts = await openFilled(300)
    const next = await openEmbeddedIndex()
    const progress: number[][] = []
    let heldAtSwitch = 0
    await replaceIndex(
      {
        store: parts.store,
        preparer: parts.preparer,
        log: silent,
        hybrid: false,
        next,
        progress: (done, total) => progress.push([done, total]),
        drop: async () => undefined,
        async serve() {
          heldAtSwitch = (await next.keys()).length
          await addDocuments(parts, 'late', 3)
          return next
        },
      },
      never,
    )
    expect(heldAtSwitch).toBe(300)
    expect(await next.keys()).toEqual(await parts.store.chunkKeys())
    expect(progress).toContainEqual([300, 300])
  })

  it('gives the new one the metadata that was changed while it was filled, and no other', async () => {
    const parts = await openFilled(3)
    await pause(5)
    await parts.store.add({ id: 'newest', text: 'All about the newest.' })
    const refreshed: number[] = []
    const index = await openEmbeddedIndex()
    const next = {
      ...index,
      async refreshLabels(keys: readonly number[]) {
        refreshed.push(...keys)
      },
    }
    await replaceIndex(
      {
        store: parts.store,
        preparer: parts.preparer,
        log: silent,
        hybrid: false,
        next,
        progress: () => undefined,
        drop: async () => undefined,
        async serve() {
          await parts.store.patchLabels(everything(), 'document1', {
            metadata: { team: 'owls' },
          })
          return next
        },
      },
      never,
    )
    const page = await parts.store.listChunks(everything(), { documentId: 'document1', limit: 10 })
    expect(new Set(refreshed)).toEqual(new Set(page?.chunks.map(({ key }) => key)))
  })

  it('leaves what it does not know once the new one serves: servers may be adding it', async () => {
    const parts = await openFilled(2)
    const next = await openEmbeddedIndex()
    const stranger = 4_000_000_000
    await replaceIndex(
      {
        store: parts.store,
        preparer: parts.preparer,
        log: silent,
        hybrid: false,
        next,
        progress: () => undefined,
        drop: async () => undefined,
        async serve() {
          const analysed = await parts.preparer.analyse([
            { title: undefined, heading: '', text: 'A claim under way.' },
          ])
          await next.add(Uint32Array.of(stranger), analysed, [])
          return next
        },
      },
      never,
    )
    expect(await next.keys()).toContain(stranger)
  })

  it('counts what an earlier run has added when it tells how far it is', async () => {
    const parts = await openFilled(40)
    const next = await openEmbeddedIndex()
    const [first = 0] = await parts.store.chunkKeys()
    const { chunks } = await parts.store.readChunks(everything(), [first])
    await next.add(Uint32Array.of(first), await parts.preparer.analyse(chunks), [])
    const progress: number[][] = []
    await completeIndex(
      next,
      {
        store: parts.store,
        preparer: parts.preparer,
        log: silent,
        hybrid: false,
        progress: (done, total) => progress.push([done, total]),
      },
      never,
    )
    expect(progress.at(-1)).toEqual([40, 40])
    expect(Math.min(...progress.map(([done = 0]) => done))).toBeGreaterThan(0)
  })

  it('stops when it is told to, and does not serve', async () => {
    const parts = await openFilled(1)
    let served = false
    const work = replaceIndex(
      {
        store: parts.store,
        preparer: parts.preparer,
        log: silent,
        hybrid: false,
        next: await openEmbeddedIndex(),
        progress: () => undefined,
        drop: async () => undefined,
        async serve() {
          served = true
          return openEmbeddedIndex()
        },
      },
      AbortSignal.abort(new Error('interrupted')),
    )
    await expect(work).rejects.toThrow('interrupted')
    expect(served).toBe(false)
  })
})

const SEEDS = isLong ? 30 : 12
/** A schedule takes 0.2 s; a busy machine five times that. */
const TIMEOUT_MS = 180_000

/** The first seed by which chunks were lost. */
async function findLoss(
  change: (store: DocumentStore) => DocumentStore,
): Promise<number | undefined> {
  const data = await createSqliteData()
  const qdrant = await startFakeQdrant()
  const options = qdrantOptionsAt(qdrant.url)
  const store = change(await data.open())
  onTestFinished(async () => {
    await store.close()
    await data.remove()
  })
  for (let seed = 1; seed <= SEEDS; seed++) {
    const lost = await replaceWhilePublishing({ options, stores: [store, store, store], seed })
    expect(qdrant.mistakes).toEqual([])
    if (lost.length > 0) return seed
  }
  return undefined
}

it('a replaced index lacks nothing, however its steps and those of servers that publish fall', {
  ...onlyLong,
  timeout: TIMEOUT_MS,
}, async () => {
  expect(await findLoss((store) => store)).toBeUndefined()
})

it('these schedules find what is lost where keys stay of use', {
  ...onlyLong,
  timeout: TIMEOUT_MS,
}, async () => {
  const retireChunkKeys = async () => undefined
  expect(await findLoss((store) => ({ ...store, retireChunkKeys }))).toBeGreaterThan(0)
})
