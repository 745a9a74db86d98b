import { SetupError } from '@agent-server/lib/errors.ts'
import { QueryResponse } from '@agent-server/schemas/query.ts'
import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { reEmbedAll } from '../../src/compose/rebuild.ts'
import { loadConfig } from '../../src/config.ts'
import { verifies } from '../requirements.ts'
import { onlyLong } from '../support/long.ts'
import { startScriptedEmbedder } from '../support/scripted-embedder.ts'
import { startServer, TEST_KEY, type TestServer } from '../support/server.ts'
import { temporaryDirectory } from '../support/temporary-files.ts'

const log = pino({ level: 'silent' })

async function prepare() {
  const embedder = await startScriptedEmbedder()
  const environment = {
    DATA_DIR: await temporaryDirectory(),
    EMBEDDING_BASE_URL: embedder.url,
    EMBEDDING_API_KEY: 'any',
  }
  return { embedder, environment }
}

/** Two documents of one passage each. */
async function fill(environment: Record<string, string>) {
  const server = await startServer(environment)
  await server.ingest({ title: 'Vehicles', text: 'A car needs fuel and four wheels.' })
  await server.ingest({ title: 'Medicine', text: 'The doctor sees patients.' })
  await server.close()
}

function runReindex(environment: Record<string, string>, signal = new AbortController().signal) {
  const reported: [number, number][] = []
  const config = loadConfig({
    SERVER_API_KEY: TEST_KEY,
    CHAT_MODEL: 'extractive',
    ...environment,
  })
  const done = reEmbedAll(config, log, (count, total) => void reported.push([count, total]), signal)
  return { done, reported }
}

async function finds({ request }: TestServer, query: string): Promise<string[]> {
  const answer = await request('/query', { body: { query, topK: 1 } })
  return QueryResponse.parse(await answer.json()).hits.map(({ title }) => title)
}

describe('a start', verifies('re-embed.refused'), () => {
  it('with another model is refused, and names the remedy', async () => {
    const { environment } = await prepare()
    await fill({ ...environment, EMBEDDING_MODEL: 'model-a' })
    await expect(startServer({ ...environment, EMBEDDING_MODEL: 'model-b' })).rejects.toThrow(
      /embedded with "model-a".*EMBEDDING_MODEL is "model-b".*npm run re-embed/,
    )
  })

  it('with another dimension of the same model is refused', onlyLong, async () => {
    const { embedder, environment } = await prepare()
    await fill({ ...environment, EMBEDDING_MODEL: 'model-a' })
    embedder.dimension = 32
    await expect(startServer({ ...environment, EMBEDDING_MODEL: 'model-a' })).rejects.toThrow(
      /32 dimensions.*64.*npm run re-embed/,
    )
    embedder.dimension = 64
    await startServer({ ...environment, EMBEDDING_MODEL: 'model-a' })
  })

  it('with a first model over documents without vectors gives them theirs', async () => {
    const { environment } = await prepare()
    await fill(environment)
    const server = await startServer({ ...environment, EMBEDDING_MODEL: 'model-a' })
    await expect.poll(() => finds(server, 'automobile')).toEqual(['Vehicles'])
  })

  it('with another model and no documents is allowed', onlyLong, async () => {
    const { environment } = await prepare()
    const first = await startServer({ ...environment, EMBEDDING_MODEL: 'model-a' })
    const id = await first.ingest({ text: 'A text.' })
    await first.request(`/documents/${id}`, { method: 'DELETE' })
    await first.close()
    const second = await startServer({ ...environment, EMBEDDING_MODEL: 'model-b' })
    await second.ingest({ text: 'A car.' })
    expect(await finds(second, 'automobile')).toEqual([''])
  })
})

describe('a model to change to', verifies('re-embed.online'), () => {
  const readiness = async ({ request }: TestServer) => (await request('/readiness')).json()

  it('is embedded with while the server serves with the old one, then a start swaps', async () => {
    const { embedder, environment } = await prepare()
    await fill({ ...environment, EMBEDDING_MODEL: 'model-a' })
    const next = await startScriptedEmbedder()
    next.dimension = 96
    const changing = await startServer({
      ...environment,
      EMBEDDING_MODEL: 'model-a',
      EMBEDDING_MODEL_NEXT: 'model-b',
      EMBEDDING_BASE_URL_NEXT: next.url,
      EMBEDDING_API_KEY_NEXT: 'next-key',
    })
    await expect
      .poll(() => readiness(changing))
      .toMatchObject({
        reEmbedding: { model: 'model-b', state: 'ready', done: 2, total: 2 },
      })
    expect(await finds(changing, 'automobile')).toEqual(['Vehicles'])
    expect(next.requests.every(({ headers }) => headers.authorization === 'Bearer next-key')).toBe(
      true,
    )
    await changing.close()

    const before = embedder.requests.length
    const changed = await startServer({
      ...environment,
      EMBEDDING_MODEL: 'model-b',
      EMBEDDING_BASE_URL: next.url,
    })
    expect(await finds(changed, 'automobile')).toEqual(['Vehicles'])
    expect(await readiness(changed)).not.toHaveProperty('reEmbedding')
    expect(embedder.requests).toHaveLength(before)
  })

  it('that is already in use causes no re-embedding', onlyLong, async () => {
    const { environment } = await prepare()
    const model = { EMBEDDING_MODEL: 'model-a', EMBEDDING_MODEL_NEXT: 'model-a' }
    const server = await startServer({ ...environment, ...model })
    expect(await readiness(server)).not.toHaveProperty('reEmbedding')
  })

  it(
    'may be the built-in one where that gave way to the vectors of another',
    onlyLong,
    async () => {
      const { environment } = await prepare()
      await fill({ ...environment, EMBEDDING_MODEL: 'model-a' })
      const byDefault = { EMBEDDING_MODEL: '', EMBEDDING_MODEL_NEXT: 'builtin' }
      const server = await startServer({ ...environment, ...byDefault })
      await expect
        .poll(() => readiness(server), { timeout: 60_000 })
        .toMatchObject({ reEmbedding: { state: 'ready', done: 2, total: 2 } })
    },
  )

  it('that does not answer is told, and harms nobody', onlyLong, async () => {
    const { environment } = await prepare()
    await fill({ ...environment, EMBEDDING_MODEL: 'model-a' })
    const next = await startScriptedEmbedder()
    next.reply = () => ({ status: 401, body: 'no' })
    const server = await startServer({
      ...environment,
      EMBEDDING_MODEL: 'model-a',
      EMBEDDING_MODEL_NEXT: 'model-b',
      EMBEDDING_BASE_URL_NEXT: next.url,
    })
    await expect
      .poll(() => readiness(server))
      .toMatchObject({
        status: 'ready',
        reEmbedding: { state: 'waiting', reason: expect.stringContaining('refused the key') },
      })
    expect(await readiness(server)).not.toHaveProperty('degraded')
    expect(await finds(server, 'automobile')).toEqual(['Vehicles'])
  })
})

describe('embedding anew', verifies('re-embed.swap', 're-embed.resume'), () => {
  it('makes the server start with the new model', async () => {
    const { embedder, environment } = await prepare()
    await fill({ ...environment, EMBEDDING_MODEL: 'model-a' })
    embedder.dimension = 96
    const { done, reported } = runReindex({ ...environment, EMBEDDING_MODEL: 'model-b' })
    await done
    expect(reported).toEqual([
      [0, 2],
      [2, 2],
    ])
    const server = await startServer({ ...environment, EMBEDDING_MODEL: 'model-b' })
    expect(await finds(server, 'automobile')).toEqual(['Vehicles'])
    await server.ingest({ title: 'Shops', text: 'Where to purchase bread.' })
    expect(await finds(server, 'buy')).toEqual(['Shops'])
  })

  it('gives vectors to documents that had none', onlyLong, async () => {
    const { environment } = await prepare()
    await fill(environment)
    const hybrid = { ...environment, EMBEDDING_MODEL: 'model-a' }
    await runReindex(hybrid).done
    expect(await finds(await startServer(hybrid), 'physician')).toEqual(['Medicine'])
  })

  it('that fails leaves the old vectors, and can be run again', onlyLong, async () => {
    const { embedder, environment } = await prepare()
    await fill({ ...environment, EMBEDDING_MODEL: 'model-a' })
    embedder.reply = ({ input }) =>
      input.includes('dimension') ? undefined : { status: 401, body: 'no' }
    await expect(
      runReindex({ ...environment, EMBEDDING_MODEL: 'model-b' }).done,
    ).rejects.toMatchObject({ kind: 'unavailable' })
    embedder.reply = () => undefined
    const old = await startServer({ ...environment, EMBEDDING_MODEL: 'model-a' })
    expect(await finds(old, 'automobile')).toEqual(['Vehicles'])
    await old.close()
    await runReindex({ ...environment, EMBEDDING_MODEL: 'model-b' }).done
    await startServer({ ...environment, EMBEDDING_MODEL: 'model-b' })
  })

  it('names the document whose chunk the model refuses', async () => {
    const { embedder, environment } = await prepare()
    await fill(environment)
    embedder.reply = ({ input }) =>
      input.some((text) => text.includes('doctor')) ? { status: 400, body: 'no' } : undefined
    await expect(runReindex({ ...environment, EMBEDDING_MODEL: 'model-a' }).done).rejects.toThrow(
      /chunk of the document doc_\w+: delete/,
    )
  })

  it('is refused while a server runs on the directory', async () => {
    const { environment } = await prepare()
    await startServer(environment)
    await expect(runReindex({ ...environment, EMBEDDING_MODEL: 'model-a' }).done).rejects.toThrow(
      SetupError,
    )
  })

  it('is refused without a model', async () => {
    const { environment } = await prepare()
    const without = { ...environment, EMBEDDING_MODEL: 'none' }
    await expect(runReindex(without).done).rejects.toThrow(/set EMBEDDING_MODEL/)
  })
})
