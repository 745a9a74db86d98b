import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readiness } from '@agent-server/schemas/operator/ops.ts'
import { QueryResponse } from '@agent-server/schemas/query.ts'
import { expect, it, onTestFinished } from 'vitest'
import { verifies } from '../requirements.ts'
import { promptOf } from '../support/model-request.ts'
import { startScriptedEmbedder } from '../support/scripted-embedder.ts'
import { type RecordedRequest, startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer, type TestServer } from '../support/server.ts'
import { errorReply, textReply } from '../support/upstream-replies.ts'

const OWLS = 'It hunts mice at night.'

/** Says what only the context can know: that *it* is the owl. */
const context = (request: RecordedRequest) => {
  const reply = textReply(
    promptOf(request, 'user').includes(OWLS) ? 'About the barn owl.' : 'Other.',
  )
  return typeof reply === 'function' ? reply(request) : reply
}

async function start(more: Record<string, string> = {}) {
  const upstream = await startScriptedUpstream()
  upstream.always(context)
  const directory = join(tmpdir(), `agent-server-${randomUUID()}`)
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const environment = modelAt(upstream, { CHUNK_CONTEXT: 'chat', DATA_DIR: directory, ...more })
  return { upstream, environment, server: await startServer(environment) }
}

async function found(server: TestServer, query: string) {
  const response = await server.request('/query', { body: { query } })
  return QueryResponse.parse(await response.json()).hits
}

async function contextsOf(server: TestServer) {
  return Readiness.parse(await (await server.request('/readiness')).json()).contexts
}

const written = (server: TestServer, refused = 0) =>
  expect
    .poll(() => contextsOf(server), { timeout: 20_000 })
    .toMatchObject({ state: 'done', missing: 0, refused })

it(
  'A passage is found by its context, which no answer shows',
  verifies('contexts.found'),
  async () => {
    const { server, environment } = await start()
    const id = await server.ingest({ title: 'Birds', text: OWLS })
    await written(server)
    const hits = await found(server, 'barn owl')
    expect(hits).toMatchObject([{ documentId: id, text: OWLS, start: 0, end: OWLS.length }])
    const everything = await Promise.all(
      [`/documents/${id}`, `/documents/${id}/chunks`, `/documents/${id}/text`].map(async (path) =>
        (await server.request(path)).text(),
      ),
    )
    expect(JSON.stringify([hits, everything])).not.toContain('barn')
    expect((await contextsOf(server))?.tokens).toBe(18)

    await server.close()
    const again = await startServer(environment)
    await written(again)
    expect((await contextsOf(again))?.tokens).toBe(0)
    expect(await found(again, 'barn owl')).toHaveLength(1)
    await again.request(`/documents/${id}`, { method: 'DELETE' })
    expect(await found(again, 'barn owl')).toEqual([])
  },
)

it('Contexts are part of what is embedded', async () => {
  const embedder = await startScriptedEmbedder()
  const { server } = await start({
    EMBEDDING_MODEL: 'words',
    EMBEDDING_BASE_URL: embedder.url,
    EMBEDDING_API_KEY: 'any',
  })
  await server.ingest({ text: OWLS })
  await written(server)
  await expect
    .poll(() => embedder.requests.flatMap(({ input }) => input), { timeout: 20_000 })
    .toContain(`About the barn owl.\n${OWLS}`)
})

it(
  'Documents are ready without the chat model, and their contexts follow',
  verifies('contexts.later'),
  async () => {
    const { server, upstream } = await start()
    upstream.always(errorReply(500, 'out of order'))
    await server.ingest({ text: OWLS })
    expect(await found(server, 'mice')).toHaveLength(1)
    await expect
      .poll(() => contextsOf(server), { timeout: 20_000 })
      .toMatchObject({ state: 'waiting', missing: 1, reason: expect.any(String) })
    upstream.always(context)
    await written(server)
    expect(await found(server, 'barn owl')).toHaveLength(1)
  },
)

it('A passage that the chat model refuses stays as it is, and is counted', async () => {
  const { server, upstream } = await start()
  upstream.always(errorReply(400, 'refused'))
  await server.ingest({ text: OWLS })
  await written(server, 1)
  expect(await found(server, 'mice')).toHaveLength(1)
})

it('Without CHUNK_CONTEXT the chat model is not asked', async () => {
  const { server, upstream } = await start({ CHUNK_CONTEXT: 'off' })
  await server.ingest({ text: OWLS })
  expect(await contextsOf(server)).toBeUndefined()
  expect(upstream.requests).toEqual([])
})
