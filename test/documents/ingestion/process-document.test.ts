import { Readable } from 'node:stream'
import { AppError } from '@agent-server/lib/errors.ts'
import { JobCrashed } from '@agent-server/lib/processes/job.ts'
import { everything } from '@agent-server/lib/visibility.ts'
import { ExtractionError } from '@agent-server/readers'
import { describe, expect, it } from 'vitest'
import { PreparationError } from '../../../src/documents/ingestion/retry-policy.ts'
import {
  createRunning,
  failingFirst,
  find,
  getDocument,
  keysOf,
  openParts,
  type Parts,
} from './ingestion-parts.ts'

const OUTAGE = new AppError('store_unavailable', 'The document store does not answer')
const ALWAYS = Number.POSITIVE_INFINITY

describe('a document without text', () => {
  it('fails at its first attempt and says so', async () => {
    const parts = await openParts()
    await parts.store.add({ id: 'a', text: ' \n\u3000\ufeff\n ' })
    const running = createRunning(parts)
    await running.start()
    await running.until('failed')
    expect(await getDocument(parts, 'a')).toMatchObject({
      status: 'failed',
      attempts: 1,
      error: { code: 'empty_document', message: 'The document contains no text to index' },
    })
  })

  it('does not hold up the others', async () => {
    const parts = await openParts()
    for (const id of ['a', 'b', 'c']) await parts.store.add({ id, text: id === 'b' ? ' ' : id })
    const running = createRunning(parts)
    await running.start()
    await Promise.all([running.until('ready', 2), running.until('failed')])
    expect((await keysOf(parts)).known).toHaveLength(2)
  })
})

describe('a document that its preparation does not survive', () => {
  it.each([
    ['preparation_timeout', 'took too long'],
    ['preparation_crashed', 'crashed; see the server log'],
  ] as const)('fails with %s at the second time', async (code, reason) => {
    const parts = await openParts()
    await parts.store.add({ id: 'a', text: 'Some text.' })
    const prepare = failingFirst(ALWAYS, parts.preparer.prepare, new PreparationError(code))
    const running = createRunning(parts, { preparer: { ...parts.preparer, prepare } })
    await running.start()
    await running.until('failed')
    expect(await getDocument(parts, 'a')).toMatchObject({
      status: 'failed',
      attempts: 2,
      error: { code, message: `Splitting and analysing the document ${reason}` },
    })
  })
})

describe('a file that takes too long to read', () => {
  it('is not read a second time', async () => {
    const parts = await openParts()
    await parts.store.add({ id: 'a', text: 'Some text.' })
    const openSource = async () => {
      throw new ExtractionError('extraction_timeout', 'Reading the file took too long')
    }
    const running = createRunning(parts, { openSource })
    await running.start()
    await running.until('failed')
    expect(await getDocument(parts, 'a')).toMatchObject({ status: 'failed', attempts: 1 })
  })
})

describe('a process that crashes with every file', () => {
  const crash = async () => {
    throw new JobCrashed('ended with exit code 7')
  }
  const addFile = async ({ store }: Parts, id: string) => {
    const pieces = Readable.from([Buffer.from('Some text.')])
    const file = { name: 'a.txt', mediaType: 'text/plain', ...(await store.stageFile(pieces)) }
    await store.add({ id, text: '', file })
  }

  it('is told at the documents, and as the reason why ingestion is stalled', async () => {
    const parts = await openParts()
    for (const id of ['a', 'b', 'c']) await addFile(parts, id)
    const backoff = { firstMs: 60_000, maxMs: 60_000, factor: 1 }
    const running = createRunning(parts, { openSource: crash, retry: { attempts: 5, backoff } })
    await running.start()
    await running.until('retried', 3)
    const message = 'The process that reads files ended with exit code 7'
    expect(await getDocument(parts, 'a')).toMatchObject({
      error: { code: 'extraction_crashed', message },
    })
    await expect(running.check()).rejects.toMatchObject({
      code: 'upstream_failed',
      message: `Ingestion is stalled: ${message}`,
    })
  })

  it('is not to blame for a single file', async () => {
    const parts = await openParts()
    await addFile(parts, 'a')
    const running = createRunning(parts, { openSource: crash })
    await running.start()
    await running.until('failed')
    await expect(running.check()).resolves.toBeUndefined()
  })
})

describe('an index that fails', () => {
  it('is tried again until it takes the document', async () => {
    const parts = await openParts()
    await parts.store.add({ id: 'a', text: 'About whales.' })
    const add = failingFirst(2, parts.index.add)
    const running = createRunning(parts, { index: { ...parts.index, add } })
    await running.start()
    await running.until('retried')
    expect(await getDocument(parts, 'a')).toMatchObject({ error: { code: 'index_failed' } })
    await running.until('ready')
    expect(await getDocument(parts, 'a')).toMatchObject({ status: 'ready', attempts: 3 })
    expect(await find(parts, 'whales')).toEqual(['a'])
    const { index, known } = await keysOf(parts)
    expect(index).toEqual(known)
  })

  it('makes the document fail after the last attempt, and a retry by hand can succeed', async () => {
    const parts = await openParts()
    await parts.store.add({ id: 'a', text: 'About whales.' })
    const add = failingFirst(5, parts.index.add)
    const running = createRunning(parts, { index: { ...parts.index, add } })
    await running.start()
    await running.until('failed')
    expect(await getDocument(parts, 'a')).toMatchObject({
      status: 'failed',
      attempts: 5,
      error: { code: 'index_failed', message: 'The search index refused the document' },
    })
    expect(await keysOf(parts)).toEqual({ index: [], known: [] })

    await parts.store.retry(everything(), 'a')
    running.wake()
    await running.until('ready')
    expect(await find(parts, 'whales')).toEqual(['a'])
  })

  it('keeps nothing of an addition that failed half way', async () => {
    const parts = await openParts()
    await parts.store.add({ id: 'a', text: 'About whales.' })
    let added = 0
    const running = createRunning(parts, {
      index: {
        ...parts.index,
        async add(keys, terms, metadata) {
          await parts.index.add(keys, terms, metadata)
          if (added++ === 0) throw new Error('after the fact')
        },
      },
    })
    await running.start()
    await running.until('ready')
    await running.stop(1_000)
    const { index, known } = await keysOf(parts)
    expect(index).toEqual(known)
    expect(index).toHaveLength(1)
  })
})

describe('a completion that the document store does not confirm', () => {
  it('counts when it has happened', async () => {
    const parts = await openParts()
    await parts.store.add({ id: 'a', text: 'About whales.' })
    const running = createRunning(parts, {
      store: {
        ...parts.store,
        async completeJob(job, chunks) {
          await parts.store.completeJob(job, chunks)
          throw OUTAGE
        },
      },
    })
    await running.start()
    await running.until('ready')
    expect(await getDocument(parts, 'a')).toMatchObject({ status: 'ready', attempts: 1 })
    expect(await find(parts, 'whales')).toEqual(['a'])
  })

  it('is tried again when it has not, and leaves no chunk of the first time', async () => {
    const parts = await openParts()
    await parts.store.add({ id: 'a', text: 'About whales.' })
    const completeJob = failingFirst(1, parts.store.completeJob, OUTAGE)
    const running = createRunning(parts, { store: { ...parts.store, completeJob } })
    await running.start()
    await running.until('ready')
    expect(running.outcomes.map(({ status }) => status)).toEqual(['retried', 'ready'])
    const { index, known } = await keysOf(parts)
    expect(index).toEqual(known)
    expect(index).toHaveLength(1)
  })
})

describe('a document store that does not answer', () => {
  it('is asked for work again', async () => {
    const parts = await openParts()
    await parts.store.add({ id: 'a', text: 'Some text.' })
    const claimJobs = failingFirst(2, parts.store.claimJobs, OUTAGE)
    const running = createRunning(parts, { store: { ...parts.store, claimJobs } })
    await running.start()
    await running.until('ready')
  })

  it('is waited for, and counts as no attempt of a document', async () => {
    const parts = await openParts()
    await parts.store.add({ id: 'a', text: 'Some text.' })
    const reserveChunkKeys = failingFirst(8, parts.store.reserveChunkKeys, OUTAGE)
    const running = createRunning(parts, { store: { ...parts.store, reserveChunkKeys } })
    await running.start()
    await running.until('ready')
    expect(await getDocument(parts, 'a')).toMatchObject({ status: 'ready', attempts: 1 })
  })

  it('is told of a failure again', async () => {
    const parts = await openParts()
    await parts.store.add({ id: 'a', text: ' ' })
    const failJob = failingFirst(2, parts.store.failJob, OUTAGE)
    const running = createRunning(parts, { store: { ...parts.store, failJob } })
    await running.start()
    await running.until('failed')
    expect(await getDocument(parts, 'a')).toMatchObject({ status: 'failed', attempts: 1 })
  })

  it('does not keep ingestion from stopping', async () => {
    const parts = await openParts()
    await parts.store.add({ id: 'a', text: ' ' })
    const asked = Promise.withResolvers<void>()
    const failJob = async () => {
      asked.resolve()
      throw OUTAGE
    }
    const running = createRunning(parts, { store: { ...parts.store, failJob } })
    await running.start()
    await asked.promise
    await running.stop(0)
    expect(await getDocument(parts, 'a')).toMatchObject({ status: 'pending', attempts: 0 })
  })
})

describe('a document that ends the process each time', () => {
  it('fails once its attempts are exhausted', async () => {
    const parts = await openParts()
    await parts.store.add({ id: 'a', text: 'Deadly.' })
    for (let crash = 0; crash < 5; crash++) {
      await parts.store.claimJobs(1)
      await parts.store.recoverJobs()
    }
    const running = createRunning(parts)
    await running.start()
    await running.until('failed')
    expect(await getDocument(parts, 'a')).toMatchObject({
      status: 'failed',
      error: { code: 'attempts_exhausted', message: expect.stringContaining('5 times') },
    })
  })
})

describe('an unexpected error', () => {
  it('is not shown to the client', async () => {
    const parts = await openParts()
    await parts.store.add({ id: 'a', text: 'Some text.' })
    const prepare = failingFirst(ALWAYS, parts.preparer.prepare, new TypeError('/secret/path'))
    const retry = { attempts: 1, backoff: { firstMs: 1, maxMs: 1 } }
    const running = createRunning(parts, { preparer: { ...parts.preparer, prepare }, retry })
    await running.start()
    await running.until('failed')
    const { error } = await getDocument(parts, 'a')
    expect(error).toMatchObject({ code: 'internal' })
    expect(error?.message).not.toContain('secret')
  })
})
