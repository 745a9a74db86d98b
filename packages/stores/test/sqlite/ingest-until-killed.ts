import { writeSync } from 'node:fs'
import { everything } from '@agent-server/lib/visibility.ts'
import type { NewChunk } from '../../src/document-store.ts'
import { createSqliteStore } from '../../src/sqlite/sqlite-store.ts'

// Adds, ingests and deletes documents in the directory of the first argument, and tells each step once it is
// acknowledged, until it is killed. The second argument begins every id.
const [directory = '', prefix = ''] = process.argv.slice(2)
const onCrash = (error: Error) => {
  throw error
}
const store = await createSqliteStore({ directory, queueLimit: 10_000, onCrash })
// `process.stdout` would write later what a slow reader has no room for, and a kill would lose it: here the program waits.
const report = (...words: (string | number)[]) => {
  for (;;) {
    try {
      return writeSync(1, `${words.join(' ')}\n`)
    } catch (error) {
      if (Object(error).code !== 'EAGAIN') throw error
    }
  }
}

async function client(name: number): Promise<never> {
  for (let position = 0; ; position += 1) {
    const id = `${prefix}-${name}-${position}`
    await store.add({ id, text: `Text of ${id} `.repeat(50) })
    report('added', id)
  }
}

async function worker(): Promise<never> {
  for (let position = 0; ; position += 1) {
    for (const job of await store.claimJobs(2)) {
      const first = await store.reserveChunkKeys(3)
      report('keys', first, 3)
      const chunks = [0, 1, 2].map((ordinal): NewChunk => {
        const text = `Chunk ${ordinal} of ${job.documentId}`
        return { key: first + ordinal, ordinal, text, heading: '', start: 0, end: text.length }
      })
      if ((await store.completeJob(job, chunks)) === undefined) continue
      report('ready', job.documentId, first)
      if (position % 3 === 0) await remove(job.documentId)
    }
  }
}

async function remove(id: string): Promise<void> {
  report('deleting', id)
  await store.delete(everything(), id)
  report('deleted', id)
}

await store.recoverJobs()
await Promise.all([client(1), client(2), client(3), worker(), worker()])
