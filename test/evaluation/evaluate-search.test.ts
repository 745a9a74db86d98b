import { evaluateSearch } from '@agent-server/evaluation'
import { expect, it } from 'vitest'
import { AgentServer } from '../../packages/client/src/agent-server.ts'
import { createAsking } from '../../scripts/eval/asking.ts'
import { ingestCollection } from '../../scripts/eval/ingest.ts'
import { startScriptedEmbedder } from '../support/scripted-embedder.ts'
import { startServer, TEST_KEY } from '../support/server.ts'

const embedder = await startScriptedEmbedder()
const server = await startServer({
  EMBEDDING_MODEL: 'hashed-words',
  EMBEDDING_BASE_URL: embedder.url,
  EMBEDDING_API_KEY: 'embedding-key-5521',
})
const client = new AgentServer({ baseURL: server.url, apiKey: TEST_KEY })

const collection = {
  documents: () => [
    { _id: 'car', text: 'A car needs fuel and four wheels.' },
    { _id: 'doctor', text: 'The doctor sees patients in the morning.' },
  ],
  questions: [
    { id: '1', text: 'car wheels', kind: 'exact', relevant: new Map([['car', 1]]) },
    { id: '2', text: 'quagga', kind: 'other', relevant: new Map([['doctor', 1]]) },
    { id: '3', text: 'nobody judged this', relevant: new Map() },
  ],
}
const progress = () => undefined
const { ids, failed } = await ingestCollection(collection, client, progress)
const asking = createAsking({ client, ids })
const options = { progress, graded: false }

it('a search is measured by question, kind and held-out half', async () => {
  const measured = await evaluateSearch(collection.questions, {
    ...options,
    ask: asking.search('lexical'),
  })
  expect([ids.size, failed]).toEqual([2, 0])
  expect(measured).toMatchObject({ queries: 2, degraded: 0, mrr: 0.5, recall: 0.5 })
  expect(measured.kinds).toEqual({ exact: { queries: 1, mrr: 1 }, other: { queries: 1, mrr: 0 } })
  expect(measured.asked.map(({ id, values }) => [id, values])).toEqual([
    ['1', { mrr: 1 }],
    ['2', { mrr: 0 }],
  ])
})

it('questions that a model was missing for are counted', async () => {
  embedder.reply = () => ({ status: 500, body: { error: { message: 'out of order' } } })
  const measured = await evaluateSearch(collection.questions, {
    ...options,
    ask: asking.search('dense'),
  })
  expect(measured.degraded).toBe(2)
})
