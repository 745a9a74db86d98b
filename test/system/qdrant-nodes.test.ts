import { setTimeout as pause } from 'node:timers/promises'
import { QueryResponse } from '@agent-server/schemas/query.ts'
import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { runRebuildIndex } from '../../src/commands/rebuild.ts'
import { loadConfig } from '../../src/config.ts'
import { PROGRAM, type QdrantNode, startNodes } from '../support/qdrant/nodes.ts'
import { post, readiness, textsBy } from '../support/qdrant/shared-server.ts'
import { startScriptedEmbedder } from '../support/scripted-embedder.ts'
import { settledDocument, startServer, TEST_KEY, type TestServer } from '../support/server.ts'
import { temporaryDirectory } from '../support/temporary-files.ts'

const NODES = 3
const DOCUMENTS = 30
const LOOKS = 15
const LOOK_EVERY_MS = 300
/** Qdrant takes a node that hangs out of service within a minute; a debug build takes seconds for each payload index. */
const SETTLING = { timeout: 300_000, interval: 500 }
const WHOLE_MS = 1_800_000

const wordOf = (number: number) => `otter${number}`
const documentOf = (number: number) => ({
  title: wordOf(number),
  text: `The ${wordOf(number)} sleeps.`,
  metadata: { number },
})

/** Three nodes, and a server whose shards are in two of them each. */
async function startCluster() {
  const nodes = await startNodes(NODES)
  const embedder = await startScriptedEmbedder()
  const environment = {
    QDRANT_URL: nodes.map(({ url }) => url).join(','),
    QDRANT_SHARDS: '3',
    QDRANT_REPLICAS: '2',
    EMBEDDING_MODEL: 'hashed-words',
    EMBEDDING_BASE_URL: embedder.url,
    EMBEDDING_API_KEY: 'embedding-key-5521',
    DATA_DIR: await temporaryDirectory(),
  }
  const server = await startServer(environment)
  let count = 0
  /** Takes in one document more. */
  const add = async () => {
    const number = count++
    const id = await post(server, documentOf(number))
    return { number, settled: () => settledDocument(server.request, id) }
  }
  for (let number = 0; number < DOCUMENTS; number++) await server.ingest(documentOf(count++))
  return { nodes, server, environment, add, count: () => count }
}

/** What searches say of documents that they should find, each asked for by its own word. */
async function faults(server: TestServer, count: number): Promise<string[]> {
  const said: string[] = []
  for (const mode of ['lexical', 'dense']) {
    for (let number = 0; number < count; number++) {
      const filter = { field: 'number', eq: number }
      const body = { query: wordOf(number), mode, topK: 3, filter }
      const response = await server.request('/query', { body })
      const answer = await response.json()
      const { data } = QueryResponse.safeParse(answer)
      const isFound = data?.hits.some(({ title }) => title === wordOf(number))
      if (!isFound || data?.degraded) said.push(`${mode} ${number}: ${JSON.stringify(answer)}`)
    }
  }
  return said
}

/** The statuses of readiness, looked at for a while; what is not ready says why. */
async function looks(server: TestServer): Promise<unknown[]> {
  const seen: unknown[] = []
  for (let look = 0; look < LOOKS; look++) {
    const { status, body } = await readiness(server)
    seen.push(status === 200 ? status : body)
    await pause(LOOK_EVERY_MS)
  }
  return seen
}

const ALL_READY = Array<unknown>(LOOKS).fill(200)

async function rebuildIndex(environment: Record<string, string>): Promise<number> {
  return runRebuildIndex({
    parameters: [],
    environment: {},
    config: () =>
      loadConfig({ SERVER_API_KEY: TEST_KEY, CHAT_MODEL: 'extractive', ...environment }),
    createLog: () => pino({ level: 'silent' }),
    stderr: { write: () => undefined },
    signal: new AbortController().signal,
  })
}

const NOUNS = ['owls', 'otters', 'herons', 'rivers', 'forests', 'nights', 'fishes', 'nests']
/** So many that the idf of a word in a shard is not that in all. */
const COMPARED = Array.from({ length: 48 }, (_, number) => {
  const noun = (step: number) => NOUNS[Math.floor(number / step) % NOUNS.length]
  return `Note ${number}: ${noun(1)} near ${noun(2)} and ${noun(7)}${' on stones'.repeat(number % 4)}.`
})

async function textsOf({ request }: TestServer, body: object): Promise<string[]> {
  const response = await request('/query', { body })
  return QueryResponse.parse(await response.json()).hits.map(({ text }) => text)
}

const Cluster = z.object({
  result: z.object({ peers: z.record(z.string(), z.object({ uri: z.string() })) }),
})
const Local = z.object({ result: z.object({ local_shards: z.array(z.unknown()) }) })

/** Has the cluster forget a node that is gone. */
async function forget([one]: readonly QdrantNode[], lost: QdrantNode | undefined): Promise<void> {
  const { peers } = Cluster.parse(await (await fetch(`${one?.url}/cluster`)).json()).result
  const [id] = Object.entries(peers).find(([, { uri }]) => uri.startsWith(`${lost?.uri}`)) ?? []
  const response = await fetch(`${one?.url}/cluster/peer/${id}?force=true`, { method: 'DELETE' })
  expect(response.status).toBe(200)
}

/** How many shards of the words a node has a copy of. */
async function shardsOn(node: QdrantNode | undefined): Promise<number> {
  const response = await fetch(`${node?.url}/collections/agent-server-terms/cluster`)
  return Local.parse(await response.json()).result.local_shards.length
}

type Act = (node: QdrantNode) => Promise<void> | void

describe.skipIf(PROGRAM === '')(
  'Three nodes of Qdrant (need its program: npm run test:qdrant -- <path>)',
  () => {
    it.each<[string, Act, Act]>([
      ['hangs', (node) => node.hang(), (node) => node.resume()],
      ['dies', (node) => node.kill(), (node) => node.start()],
    ])(
      'serve on while any of them %s, take documents in, and lose nothing',
      { timeout: WHOLE_MS },
      async (_case, fail, recover) => {
        const { nodes, server, add, count } = await startCluster()
        for (const node of nodes) {
          await fail(node)
          expect(await looks(server)).toEqual(ALL_READY)
          expect(await faults(server, count())).toEqual([])
          const added = await add()
          await expect.poll(added.settled, SETTLING).toMatchObject({ status: 'ready' })
          await recover(node)
          await expect.poll(() => faults(server, count()), SETTLING).toEqual([])
          expect((await readiness(server)).status).toBe(200)
        }
      },
    )

    it('serve on while one of them has lost its storage, and are given whole copies by a rebuild once it is replaced', {
      timeout: WHOLE_MS,
    }, async () => {
      const { nodes, server, environment, count } = await startCluster()
      const lost = nodes[2]
      await lost?.kill()
      await lost?.wipe()
      expect(await looks(server)).toEqual(ALL_READY)
      expect(await faults(server, count())).toEqual([])
      await server.close()
      expect(await rebuildIndex(environment)).toBe(0)
      const after = await startServer(environment)
      expect(await faults(after, count())).toEqual([])
      await after.close()
      // The others still know it with shards, and would refuse it empty.
      await forget(nodes, lost)
      await lost?.start()
      expect(await rebuildIndex(environment)).toBe(0)
      expect(await shardsOn(lost)).toBeGreaterThan(0)
      const whole = await startServer({ ...environment, QDRANT_URL: lost?.url ?? '' })
      expect(await faults(whole, count())).toEqual([])
    })

    it('find the same by words and by meaning in three shards as in one, whatever the order by words', {
      timeout: WHOLE_MS,
    }, async () => {
      const embedder = await startScriptedEmbedder()
      const answers: string[][][] = []
      for (const count of [1, NODES]) {
        const nodes = await startNodes(count)
        const server = await startServer({
          QDRANT_URL: nodes.map(({ url }) => url).join(','),
          QDRANT_SHARDS: `${count}`,
          EMBEDDING_MODEL: 'hashed-words',
          EMBEDDING_BASE_URL: embedder.url,
          EMBEDDING_API_KEY: 'embedding-key-5521',
        })
        for (const text of COMPARED) await server.ingest({ text })
        const found: string[][] = []
        for (const query of NOUNS) {
          found.push((await textsOf(server, { query, mode: 'lexical', topK: 50 })).toSorted())
          found.push(await textsOf(server, { query, mode: 'dense', topK: 10 }))
        }
        answers.push(found)
        await server.close()
      }
      expect(answers[1]).toEqual(answers[0])
    })

    it('take in what has more fields than strict mode allows payload indexes', {
      timeout: WHOLE_MS,
    }, async () => {
      const { nodes, server } = await startCluster()
      const strict_mode_config = { enabled: true, max_payload_index_count: 100 }
      for (const name of ['agent-server-terms-1', 'agent-server-vectors-1']) {
        const response = await fetch(`${nodes[0]?.url}/collections/${name}`, {
          method: 'PATCH',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ strict_mode_config }),
        })
        expect(response.status).toBe(200)
      }
      const numbers = Array.from({ length: 12 }, (_, place) => place)
      for (const document of numbers) {
        const fields = numbers.map((place) => [`n${document}-${place}`, place])
        const metadata = Object.fromEntries(fields)
        const id = await post(server, { text: `Otters ${document}.`, metadata })
        const state = () => settledDocument(server.request, id)
        await expect.poll(state, SETTLING).toMatchObject({ status: 'ready' })
      }
      for (const document of numbers) {
        const filter = { field: `n${document}-11`, gt: 10 }
        expect(await textsBy(server, filter)).toEqual([`Otters ${document}.`])
      }
      expect((await readiness(server)).status).toBe(200)
    })
  },
)
