import type { StoredDocument } from '@agent-server/stores'
import { describe, expect, it } from 'vitest'
import type { DocumentStatus } from '../../../packages/stores/src/document-store.ts'
import { createCompletionWaiter } from '../../../src/documents/ingestion/completion-waiter.ts'

const LONG = 60_000
const forever = new AbortController().signal

/** A completion waiter over one document, whose status the test sets, and how often it was read. */
function createForTest() {
  const document: StoredDocument = {
    id: 'a',
    title: undefined,
    url: undefined,
    collection: undefined,
    conversation: undefined,
    metadata: undefined,
    error: undefined,
    status: 'pending',
    attempts: 0,
    revision: 1,
    servedRevision: undefined,
    file: undefined,
    chunkCount: 0,
    characters: 1,
    createdAt: 0,
    updatedAt: 0,
  }
  let status: DocumentStatus | undefined = 'pending'
  let reads = 0
  const completionWaiter = createCompletionWaiter({
    async get() {
      reads++
      return status && { ...document, status }
    },
  })
  return {
    completionWaiter,
    set: (next: DocumentStatus | undefined) => (status = next),
    reads: () => reads,
    wait: async (milliseconds = LONG, signal = forever) =>
      (await completionWaiter.wait('a', milliseconds, 'ready', signal))?.status,
  }
}

describe('Waiting for a document', () => {
  it.each(['ready', 'failed'] as const)('ends at once where it is %s', async (status) => {
    const { wait, set, reads } = createForTest()
    set(status)
    expect([await wait(), reads()]).toEqual([status, 1])
  })

  it('ends as soon as its ingestion ends, for everybody who waits, without asking in between', async () => {
    const { wait, set, reads, completionWaiter } = createForTest()
    const all = Promise.all([wait(), wait(), wait()])
    await Promise.resolve()
    set('ready')
    completionWaiter.ended({ documentId: 'other' })
    completionWaiter.ended({ documentId: 'a' })
    expect(await all).toEqual(['ready', 'ready', 'ready'])
    expect(reads()).toBeLessThanOrEqual(6)
  })

  it('looks again where any document may have ended', async () => {
    const { wait, set, completionWaiter } = createForTest()
    const waiting = wait()
    await Promise.resolve()
    set('ready')
    completionWaiter.ended()
    expect(await waiting).toBe('ready')
  })

  it('goes on where the attempt that ended will be tried again', async () => {
    const { wait, set, completionWaiter } = createForTest()
    const waiting = wait()
    await Promise.resolve()
    completionWaiter.ended({ documentId: 'a' })
    await Promise.resolve()
    set('failed')
    completionWaiter.ended({ documentId: 'a' })
    expect(await waiting).toBe('failed')
  })

  it('ends with the state of the moment when the time is over', async () => {
    const { wait } = createForTest()
    expect(await wait(20)).toBe('pending')
  })

  it('ends when the caller has left', async () => {
    const { wait } = createForTest()
    const call = new AbortController()
    const waiting = wait(LONG, call.signal)
    call.abort()
    expect(await waiting).toBe('pending')
    expect(await wait(LONG, AbortSignal.abort())).toBe('pending')
  })

  it('finds out by itself what another server has ingested, or deleted', async () => {
    const { wait, set } = createForTest()
    const waiting = [wait(), wait()]
    await Promise.resolve()
    set('ready')
    expect(await Promise.all(waiting)).toEqual(['ready', 'ready'])
    set(undefined)
    expect(await wait()).toBeUndefined()
  })
})
