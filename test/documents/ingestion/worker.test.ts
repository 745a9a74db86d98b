import { everything } from '@agent-server/lib/visibility.ts'
import type { IngestionJob } from '@agent-server/stores'
import { describe, expect, it, vi } from 'vitest'
import { ClaimLoop } from '../../../src/documents/ingestion/worker.ts'
import { onlyLong } from '../../support/long.ts'
import {
  createGate,
  createRunning,
  find,
  getDocument,
  keysOf,
  openParts,
  type Parts,
  preparerAfter,
} from './ingestion-parts.ts'

const paragraphs = (word: string, count: number) =>
  Array.from(
    { length: count },
    (_, i) => `## Part ${i}\n\n${`Something about ${word}. `.repeat(50)}`,
  )

async function addMany({ store }: Parts, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, (_, i) => `document${i}`)
  await Promise.all(ids.map((id) => store.add({ id, text: `The only text that holds ${id}.` })))
  return ids
}

describe('a ready document', () => {
  it('is found by the very next search', async () => {
    const parts = await openParts()
    const ids = await addMany(parts, 60)
    const misses: string[] = []
    const searches: Promise<void>[] = []
    const search = async (id: string) => {
      if ((await find(parts, id))[0] !== id) misses.push(id)
    }
    const running = createRunning(parts, {
      store: {
        ...parts.store,
        async completeJob(job, chunks) {
          const superseded = await parts.store.completeJob(job, chunks)
          searches.push(search(job.documentId))
          return superseded
        },
      },
    })
    await running.start()
    await running.until('ready', ids.length)
    await Promise.all(searches)
    expect(searches).toHaveLength(ids.length)
    expect(misses).toEqual([])
  })

  it('has chunks in order, each with its heading and its place in the text', async () => {
    const parts = await openParts()
    const text = `# Guide\n\n${paragraphs('ships', 5).join('\n\n')}`
    await parts.store.add({ id: 'a', text, title: 'Ships' })
    const running = createRunning(parts)
    await running.start()
    await running.until('ready')

    const { known, index } = await keysOf(parts)
    const { chunks } = await parts.store.readChunks(everything(), known)
    expect(chunks.map(({ ordinal }) => ordinal)).toEqual(chunks.map((_, ordinal) => ordinal))
    for (const chunk of chunks) expect(text.slice(chunk.start, chunk.end)).toBe(chunk.text)
    expect(chunks.map(({ heading }) => heading)).toContain('Guide > Part 3')
    expect(index).toEqual(known)
    expect(await getDocument(parts, 'a')).toMatchObject({
      status: 'ready',
      attempts: 1,
      chunkCount: chunks.length,
    })
    expect(running.outcomes).toEqual([
      {
        documentId: 'a',
        status: 'ready',
        milliseconds: expect.any(Number),
        characters: text.length,
        chunks: chunks.length,
      },
    ])
  })

  it('takes the place of its earlier revision, in the index too', async () => {
    const parts = await openParts()
    await parts.store.add({ id: 'a', text: 'About whales.' })
    const running = createRunning(parts)
    await running.start()
    await running.until('ready')
    await parts.store.put(everything(), { id: 'a', text: 'About sharks.' })
    running.wake()
    await running.until('ready', 2)

    expect(await find(parts, 'sharks')).toEqual(['a'])
    await running.stop(1_000)
    const { index, known } = await keysOf(parts)
    expect(index).toEqual(known)
    expect(index).toHaveLength(1)
  })
})

describe('the queue', () => {
  it('is worked through after a wake, however often it has run dry', async () => {
    const parts = await openParts()
    const running = createRunning(parts)
    await running.start()
    for (const [count, id] of ['a', 'b', 'c'].entries()) {
      await parts.store.add({ id, text: 'Some text.' })
      running.wake()
      await running.until('ready', count + 1)
    }
    expect(running.statistics()).toMatchObject({ underWay: 0, charactersUnderWay: 0 })
  })

  it('never has more documents under way than allowed', async () => {
    const parts = await openParts()
    // Where all slots are taken for a second, others get more: the thread that prepares has to run by then.
    await parts.preparer.prepare({ title: undefined, text: 'Some text.', context: undefined })
    const ids = await addMany(parts, 40)
    const seen: number[] = []
    const running = createRunning(parts, {
      concurrency: 3,
      preparer: preparerAfter(parts, (source) => {
        seen.push(running.statistics().underWay)
        return source
      }),
    })
    await running.start()
    await running.until('ready', ids.length)
    expect(Math.max(...seen)).toBeLessThanOrEqual(3)
  })

  it('gives long documents less company', onlyLong, async () => {
    const parts = await openParts()
    const text = 'word '.repeat(200_000)
    const ids = Array.from({ length: 20 }, (_, i) => `document${i}`)
    for (const id of ids) await parts.store.add({ id, text })
    const gate = createGate()
    const running = createRunning(parts, {
      concurrency: 100,
      preparer: preparerAfter(parts, async (source) => {
        await gate.pass()
        return { ...source, text: 'short' }
      }),
    })
    await running.start()
    await gate.reached
    gate.open()
    const { charactersUnderWay } = running.statistics()
    await running.until('ready', ids.length)
    expect(charactersUnderWay).toBeLessThanOrEqual(16_000_000)
  })

  it('waits for no other sender, however many slow ones that has', async () => {
    const parts = await openParts()
    const add = (sender: string | undefined, id: string) =>
      parts.store.add({ id, text: `Of ${sender}`, ...(sender && { sender }) })
    for (let i = 0; i < 40; i += 1) await add('greedy', `slow${i}`)
    const gate = createGate()
    const running = createRunning(parts, {
      preparer: preparerAfter(parts, async (source) => {
        if (source.text.includes('greedy')) await gate.pass()
        return source
      }),
    })
    await running.start()
    await gate.reached
    await expect.poll(() => running.statistics().underWay).toBe(8)
    for (const sender of ['modest', 'late', undefined]) {
      const id = `one of ${sender}`
      await add(sender, id)
      running.wake()
      const status = async () => (await getDocument(parts, id)).status
      await expect.poll(status, { timeout: 10_000 }).toBe('ready')
    }
    expect(running.statistics().underWay).toBe(8)
    gate.open()
    await running.until('ready', 43)
  })

  it('is taken up again after a restart, each document once', async () => {
    const parts = await openParts()
    const ids = await addMany(parts, 10)
    await parts.store.claimJobs(6)
    const running = createRunning(parts)
    await running.start()
    await running.until('ready', ids.length)
    const { index, known } = await keysOf(parts)
    expect(known).toHaveLength(ids.length)
    expect(index).toEqual(known)
  })
})

describe('a document deleted while it is ingested', () => {
  it('leaves nothing in the index', async () => {
    const parts = await openParts()
    await parts.store.add({ id: 'a', text: 'Soon gone.' })
    const gate = createGate()
    const running = createRunning(parts, {
      index: {
        ...parts.index,
        async add(keys, terms, metadata) {
          await parts.index.add(keys, terms, metadata)
          await gate.pass()
        },
      },
    })
    await running.start()
    await gate.reached
    expect(await parts.store.delete(everything(), 'a')).toEqual([])
    expect((await keysOf(parts)).index).toHaveLength(1)
    gate.open()
    await running.until('superseded')
    await running.stop(1_000)
    expect(await keysOf(parts)).toEqual({ index: [], known: [] })
  })
})

describe('stopping', () => {
  it('lets the work under way end within the grace', async () => {
    const parts = await openParts()
    await parts.store.add({ id: 'a', text: 'In work.' })
    await parts.store.add({ id: 'b', text: 'Waiting.' })
    const gate = createGate()
    const running = createRunning(parts, {
      concurrency: 1,
      preparer: preparerAfter(parts, async (source) => {
        await gate.pass()
        return source
      }),
    })
    await running.start()
    await gate.reached
    const stopped = running.stop(20_000)
    gate.open()
    await stopped
    expect(await getDocument(parts, 'a')).toMatchObject({ status: 'ready' })
    expect(await getDocument(parts, 'b')).toMatchObject({ status: 'pending', attempts: 0 })
  })

  it('gives back what outlives the grace, uncounted, and the next start ingests it', async () => {
    const parts = await openParts()
    await parts.store.add({ id: 'a', text: 'In work.' })
    const gate = createGate()
    const running = createRunning(parts, {
      index: {
        ...parts.index,
        async add(keys, terms, metadata) {
          await gate.pass()
          return parts.index.add(keys, terms, metadata)
        },
      },
    })
    await running.start()
    await gate.reached
    await running.stop(10)
    expect(running.outcomes).toMatchObject([{ status: 'released' }])
    expect(await getDocument(parts, 'a')).toMatchObject({ status: 'pending', attempts: 0 })
    gate.open()

    const next = createRunning(parts)
    await next.start()
    await next.until('ready')
    expect((await keysOf(parts)).known).toHaveLength(1)
  })

  it('claims nothing more', async () => {
    const parts = await openParts()
    const running = createRunning(parts)
    await running.start()
    await running.stop(1_000)
    await parts.store.add({ id: 'a', text: 'Too late.' })
    running.wake()
    expect(running.statistics().underWay).toBe(0)
    expect(await parts.store.claimJobs(1)).toHaveLength(1)
  })
})

const job = (documentId: string): IngestionJob => ({
  sender: undefined,
  documentId,
  claim: 1,
  revision: 1,
  attempt: 1,
  text: 'x',
  title: undefined,
  url: undefined,
  collection: undefined,
  conversation: undefined,
  metadata: undefined,
  file: undefined,
})

/** A loop over a document store of two functions. */
function run(store: ConstructorParameters<typeof ClaimLoop>[0]['store']) {
  const taken: string[] = []
  const loop = new ClaimLoop({
    store,
    room: () => 4,
    roomForOthers: () => ({ limit: 0, except: [] }),
    take: ({ documentId }) => void taken.push(documentId),
    now: Date.now,
    log: { warn: () => undefined },
  })
  const running = loop.run()
  return {
    taken,
    loop,
    async stop() {
      loop.stop()
      await running
    },
  }
}

describe('The loop that claims jobs', () => {
  it('does not ask over and over where something is due and none is to be had', async () => {
    const asked: number[] = []
    const claimJobs = async () => {
      asked.push(performance.now())
      return []
    }
    const { stop } = run({ claimJobs, nextJobAt: async () => Date.now() - 5_000 })
    await expect.poll(() => asked.length).toBeGreaterThanOrEqual(5)
    await stop()
    const [, , third = 0, , fifth = 0] = asked
    expect(fifth - third).toBeGreaterThan(100)
  })

  it('asks at once when it is told that a job came', async () => {
    const waiting = ['a']
    const claimJobs = vi.fn(async () => waiting.splice(0).map(job))
    const { taken, loop, stop } = run({ claimJobs, nextJobAt: async () => undefined })
    await expect.poll(() => taken).toEqual(['a'])
    waiting.push('b')
    loop.notifyJob()
    await expect.poll(() => taken).toEqual(['a', 'b'])
    await stop()
  })

  it('asks again when the next job is due, such as one whose lease ends', async () => {
    const dueAt = Date.now() + 150
    const claimJobs = vi.fn(async () => (Date.now() >= dueAt ? [job('later')] : []))
    const { taken, stop } = run({ claimJobs, nextJobAt: async () => dueAt })
    await expect.poll(() => taken).toContain('later')
    await stop()
  })
})
