import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createLexicalIndex } from '../../../src/indexes/embedded/lexical.ts'
import { completeIndex, replaceIndex } from '../../../src/services/ingestion/replace-index.ts'
import { createRunning, openParts, type Parts, silent } from './ingestion-parts.ts'

/** An index of words in memory that tells what it was given. */
function openIndex() {
  const index = createLexicalIndex([])
  return {
    keepsMetadata: false,
    keys: async () => index.keys(),
    vectorKeys: async () => new Uint32Array(),
    addVectors: async () => undefined,
    remove: async (keys: readonly number[]) => index.remove(keys),
    add: async (...[keys, terms]: Parameters<Parts['index']['add']>) =>
      index.add(keys, terms, 0, terms.size),
  }
}

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

const statusOf = async ({ store }: Parts, id: string) => (await store.get(id))?.status
const never = new AbortController().signal

describe('The replacement of an index', () => {
  it('fills the new one before it serves, with progress, and adds what came until it did', async () => {
    const parts = await openFilled(300)
    const next = openIndex()
    const progress: number[][] = []
    let heldAtSwitch = 0
    await replaceIndex(
      {
        ...{ store: parts.store, preparer: parts.preparer, log: silent, hybrid: false, next },
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
    const metadata = new Map<number, unknown>()
    const given: number[] = []
    const index = openIndex()
    const next = {
      ...index,
      keepsMetadata: true,
      async add(...added: Parameters<Parts['index']['add']>) {
        for (const [i, key] of added[0].entries()) {
          metadata.set(key, added[2]?.[i])
          given.push(key)
        }
        return index.add(...added)
      },
    }
    await replaceIndex(
      {
        ...{ store: parts.store, preparer: parts.preparer, log: silent, hybrid: false, next },
        ...{ progress: () => undefined, drop: async () => undefined },
        async serve() {
          given.length = 0
          await parts.store.patchMetadata('document1', { team: 'owls' }, true)
          return next
        },
      },
      never,
    )
    const page = await parts.store.listChunks({ documentId: 'document1', limit: 10 })
    const [key = 0] = page?.chunks.map((chunk) => chunk.key) ?? []
    expect(metadata.get(key)).toEqual({ team: 'owls' })
    expect(new Set(given)).toEqual(new Set([key]))
  })

  it('leaves what it does not know once the new one serves: servers may be adding it', async () => {
    const parts = await openFilled(2)
    const next = openIndex()
    const stranger = 4_000_000_000
    await replaceIndex(
      {
        ...{ store: parts.store, preparer: parts.preparer, log: silent, hybrid: false, next },
        ...{ progress: () => undefined, drop: async () => undefined },
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
    const next = openIndex()
    const [first = 0] = await parts.store.chunkKeys()
    const chunks = await parts.store.readChunks([first])
    await next.add(Uint32Array.of(first), await parts.preparer.analyse(chunks), [])
    const progress: number[][] = []
    await completeIndex(
      next,
      {
        ...{ store: parts.store, preparer: parts.preparer, log: silent, hybrid: false },
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
        ...{ store: parts.store, preparer: parts.preparer, log: silent, hybrid: false },
        next: openIndex(),
        ...{ progress: () => undefined, drop: async () => undefined },
        async serve() {
          served = true
          return openIndex()
        },
      },
      AbortSignal.abort(new Error('interrupted')),
    )
    await expect(work).rejects.toThrow('interrupted')
    expect(served).toBe(false)
  })
})
