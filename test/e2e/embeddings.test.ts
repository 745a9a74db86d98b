// @module-tag long
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { DocumentCreated } from '@agent-server/schemas/document.ts'
import { Readiness } from '@agent-server/schemas/operator/ops.ts'
import { QueryResponse } from '@agent-server/schemas/query.ts'
import { describe, expect, it } from 'vitest'
import { isLong, onlyLong } from '../support/long.ts'
import { multilingualInstalled } from '../support/multilingual-e5.ts'
import { startScriptedEmbedder } from '../support/scripted-embedder.ts'
import { settledDocument, startServer, TEST_KEY, type TestServer } from '../support/server.ts'
import { launch, startServerProcess } from '../support/server-process.ts'
import { temporaryDirectory } from '../support/temporary-files.ts'

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
const DOCUMENTS = isLong ? 40 : 8
const KILLS = 4

async function prepare() {
  const embedder = await startScriptedEmbedder()
  embedder.dimension = 256
  const directory = await temporaryDirectory()
  const environment = (model: string) => ({
    EMBEDDING_MODEL: model,
    EMBEDDING_BASE_URL: embedder.url,
    EMBEDDING_API_KEY: 'any',
  })
  return { embedder, directory, environment }
}

async function titles({ request }: TestServer, body: object): Promise<string[]> {
  const { hits, degraded } = QueryResponse.parse(await (await request('/query', { body })).json())
  return degraded ? ['degraded'] : hits.map(({ title }) => title)
}

async function readMeaning({ request }: TestServer) {
  return Readiness.parse(await (await request('/readiness')).json()).embeddings
}

describe('Documents that are being embedded', () => {
  it('become ready and are found by meaning, though embedder and server die repeatedly', {
    ...onlyLong,
    timeout: 120_000,
  }, async () => {
    const { embedder, directory, environment } = await prepare()
    // Every third answer is a failure, of one kind or another.
    embedder.reply = () => {
      const turn = embedder.requests.length % 6
      if (turn === 2) return { status: 503, body: 'busy', headers: { 'retry-after-ms': '5' } }
      return turn === 5 ? { status: 401, body: 'no' } : undefined
    }
    const start = () => startServerProcess(environment('a'), { directory })
    let server = await start()
    const ids: string[] = []
    for (let number = 0; number < DOCUMENTS; number++) {
      const body = { title: `Number ${number}`, text: `automobile w${number}x physician.` }
      const created = await server.request('/documents', { body })
      ids.push(DocumentCreated.parse(await created.json()).id)
      if (number % (DOCUMENTS / KILLS) === 5) {
        await server.crash()
        server = await start()
      }
    }
    embedder.reply = () => undefined
    for (const id of ids) {
      expect(await settledDocument(server.request, id)).toMatchObject({ status: 'ready' })
    }
    const found = await titles(server, { query: 'car doctor', topK: 100 })
    expect(new Set(found).size).toBe(DOCUMENTS)
    expect(found).toHaveLength(DOCUMENTS)
    expect(await server.stop()).toEqual({ code: 0, signal: null })
  })
})

it.each(['a', 'builtin'])(
  'Vectors of what is there already come behind its start, also after kill -9: %s',
  { timeout: 120_000 },
  async (model) => {
    const { embedder, directory, environment } = await prepare()
    const before = await startServer({ DATA_DIR: join(directory, 'data') })
    for (let number = 0; number < DOCUMENTS; number++) {
      await before.ingest({ text: `automobile w${number}x physician.` })
    }
    await before.close()

    // Questions only, so that the kill meets all that is to be done.
    embedder.reply = ({ input }) => (input.length > 1 ? { status: 503, body: 'busy' } : undefined)
    const killed = await startServerProcess(environment(model), { directory })
    if (model === 'a')
      await expect.poll(() => readMeaning(killed)).toMatchObject({ missing: DOCUMENTS })
    await killed.crash()

    embedder.reply = () => undefined
    const server = await startServerProcess(environment(model), { directory })
    const done = { state: 'done', missing: 0, refused: 0 }
    await expect.poll(() => readMeaning(server), { timeout: 60_000 }).toEqual(done)
    expect(await titles(server, { query: 'car', topK: 100, mode: 'dense' })).toHaveLength(DOCUMENTS)
    await server.said(/EMBEDDING_MODEL=none/)
    const [line] = server.log().filter(({ msg }) => msg.includes('EMBEDDING_MODEL=none'))
    expect(line).toMatchObject({ chunks: DOCUMENTS, seconds: expect.any(Number) })
  },
)

it.skipIf(multilingualInstalled || !isLong)(
  'Documents in another language than English are searched by words alone where the package for them is missing, and the server says so (needs it to be missing)',
  onlyLong,
  async () => {
    const server = await startServerProcess({ SEARCH_LANGUAGE: 'german', EMBEDDING_MODEL: '' })
    await server.ingest({ title: 'Eulen', text: 'Die Gebäude der Eulen stehen leer.' })
    expect(await titles(server, { query: 'Gebaeude' })).toEqual(['Eulen'])
    expect(Readiness.parse(await (await server.request('/readiness')).json()).retrieval).toBe(
      'lexical',
    )
    const words =
      /for SEARCH_LANGUAGE=german is in the package agent-server-multilingual-e5, which is not installed: /
    const said = server.log().filter(({ msg }) => msg.startsWith('search is lexical only: '))
    expect(said.map(({ msg }) => msg)).toEqual([expect.stringMatching(words)])
    const capabilities = await (await server.request('/agent/capabilities')).json()
    expect(capabilities).toMatchObject({
      embedder: { state: 'off', reason: expect.stringMatching(words) },
    })
  },
)

it.skipIf(!multilingualInstalled)(
  'Documents in another language than English are found by meaning where the package for them is installed (needs packages/embedders/multilingual-e5/README.md)',
  async () => {
    const server = await startServerProcess({ SEARCH_LANGUAGE: 'german', EMBEDDING_MODEL: '' })
    await server.ingest({ title: 'Arzt', text: 'The physician sees patients in the morning.' })
    await server.ingest({ title: 'Auto', text: 'A car needs fuel and four wheels.' })
    await expect
      .poll(() => readMeaning(server), { timeout: 60_000 })
      .toMatchObject({ state: 'done', missing: 0 })
    const question = { query: 'Wann kann ich zum Arzt?', mode: 'dense' }
    expect((await titles(server, question))[0]).toBe('Arzt')
  },
)

describe('npm run re-embed', () => {
  it('reports the embedder’s failure, without a stack', onlyLong, async () => {
    const { embedder, directory, environment } = await prepare()
    embedder.reply = () => ({ status: 401, body: 'no' })
    const command = launch({
      directory,
      environment: { SERVER_API_KEY: TEST_KEY, CHAT_MODEL: 'extractive', ...environment('a') },
      command: [process.execPath, MAIN, 're-embed'],
    })
    expect(await command.exited).toEqual({ code: 1, signal: null })
    expect(command.stderr).toBe('The embedding model refused the key: check EMBEDDING_API_KEY\n')
  })
})

describe('A change of the model while the server runs', () => {
  it('serves with the old vectors, survives kill -9 anywhere, and swaps at the start with the new model', {
    ...onlyLong,
    timeout: 120_000,
  }, async () => {
    const { embedder, directory, environment } = await prepare()
    const changing = { ...environment('model-a'), EMBEDDING_MODEL_NEXT: 'model-b' }
    embedder.reply = ({ model, input }) => {
      // Slow enough to be killed in the middle.
      const isSlow = model === 'model-b' && embedder.requests.length % 3 === 0
      return isSlow && input.length > 1 ? { status: 503, body: 'busy' } : undefined
    }
    let server = await startServerProcess(changing, { directory })
    const ids: string[] = []
    for (let number = 0; number < DOCUMENTS; number++) {
      ids.push(await server.ingest({ title: `Number ${number}`, text: `automobile w${number}x.` }))
      if (number % (DOCUMENTS / KILLS) !== 5) continue
      await server.crash()
      server = await startServerProcess(changing, { directory })
      // The vectors enter the index after the start has ended.
      const search = () => titles(server, { query: 'car', topK: 1 })
      await expect.poll(search, { timeout: 20_000 }).not.toEqual(['degraded'])
    }
    await server.request(`/documents/${ids[0]}`, { method: 'DELETE' })
    const readReindex = async () => (await server.request('/readiness')).json()
    await expect
      .poll(readReindex, { timeout: 40_000 })
      .toMatchObject({ status: 'ready', reEmbedding: { model: 'model-b', state: 'ready' } })
    // Not embedded anew by the time of the kill.
    await server.ingest({ title: 'Late', text: 'automobile late.' })
    await server.crash()

    embedder.reply = () => undefined
    const second = await startServerProcess(environment('model-b'), { directory })
    await expect
      .poll(() => titles(second, { query: 'car', topK: 100 }), { timeout: 20_000 })
      .toHaveLength(DOCUMENTS)
    expect(await titles(second, { query: 'car', topK: 100 })).toContain('Late')
    const asked = embedder.requests.at(-1)
    expect(asked?.model).toBe('model-b')
    expect(await second.stop()).toEqual({ code: 0, signal: null })
  })
})
