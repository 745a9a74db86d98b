import type { DocumentStore } from '@agent-server/stores'

const CLAIMS = 50
const DIMENSION = 8

/** So many ready documents with metadata, two chunks and their vectors each, and two that wait. */
export async function fillStore(store: DocumentStore, documents: number): Promise<void> {
  await Promise.all(
    Array.from({ length: documents }, (_, n) =>
      store.add({ id: `document-${n}`, text: `Text ${n}.`, metadata: { n, even: n % 2 === 0 } }),
    ),
  )
  for (;;) {
    const jobs = await store.claimJobs(CLAIMS)
    if (jobs.length === 0) break
    for (const job of jobs) {
      const first = await store.reserveChunkKeys(2)
      const chunks = [0, 1].map((ordinal) => {
        const text = `Chunk ${ordinal} of ${job.documentId}`
        return { key: first + ordinal, ordinal, text, heading: '', start: ordinal, end: 9 }
      })
      const values = Float32Array.from({ length: 2 * DIMENSION }, (_, i) => ((first + i) % 7) / 8)
      await store.completeJob(job, chunks)
      const keys = Uint32Array.of(first, first + 1)
      await store.addVectors({ keys, dimension: DIMENSION, values }, 'model-a')
    }
  }
  for (const n of [0, 1]) await store.add({ id: `waits-${n}`, text: `Waits ${n}` })
}
