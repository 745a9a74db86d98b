import { QueryResponse } from '@agent-server/schemas/query.ts'
import { expect } from 'vitest'
import { startScriptedEmbedder } from '../scripted-embedder.ts'
import type { TestServer } from '../server.ts'
import { readiness, startShared } from './shared-server.ts'

/** More than a search learns from. */
const DOCUMENTS = 24
const TOP_K = 5

/** A server with its index in a Qdrant of its own, and documents that have their vectors. */
export async function startWithVectors(more: Record<string, string> = {}) {
  const embedder = await startScriptedEmbedder()
  const started = await startShared({
    EMBEDDING_MODEL: 'hashed-words',
    EMBEDDING_BASE_URL: embedder.url,
    EMBEDDING_API_KEY: 'embedding-key-5521',
    ...more,
  })
  for (let number = 0; number < DOCUMENTS; number++) {
    const text = `Otters of river ${number} hold hands${' stones'.repeat(number)}.`
    await started.server.ingest({ text })
  }
  const ready = async () => (await readiness(started.server)).body
  await expect.poll(ready).toMatchObject({ embeddings: { state: 'done', missing: 0 } })
  return started
}

/** Asks by words, by meaning and by both, one after the other, with something to do before and after each. */
export async function queryEachWay(
  { request }: TestServer,
  { begin, end }: { begin: () => void; end: () => void },
): Promise<void> {
  for (const mode of ['lexical', 'dense', 'hybrid']) {
    const body = { query: `where do otters hold hands, ${mode}`, mode, topK: TOP_K }
    begin()
    const { hits } = QueryResponse.parse(await (await request('/query', { body })).json())
    end()
    expect(hits).toHaveLength(TOP_K)
  }
}
