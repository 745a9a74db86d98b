import { describe, expect, it, vi } from 'vitest'
import { createClaimLoop } from '../../../src/services/ingestion/worker.ts'
import type { IngestionJob } from '../../../src/stores/document-store.ts'

const job = (documentId: string): IngestionJob => ({
  ...{ documentId, claim: 1, revision: 1, attempt: 1, text: 'x' },
  ...{ title: undefined, url: undefined, metadata: undefined, file: undefined },
})

/** A loop over a document store of two functions. */
function run(store: Parameters<typeof createClaimLoop>[0]['store']) {
  const taken: string[] = []
  const loop = createClaimLoop({
    store,
    room: () => 4,
    take: ({ documentId }) => void taken.push(documentId),
    now: Date.now,
    log: { warn: () => undefined },
  })
  const running = loop.run()
  return {
    ...{ taken, loop },
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
    loop.jobCame()
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
