import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { DocumentCreated } from '@agent-server/schemas/document.ts'
import { describe, expect, it } from 'vitest'
import { readChat } from '../support/chat-reader.ts'
import { listDocuments, search } from '../support/knowledge.ts'
import { onlyLong } from '../support/long.ts'
import { openConnection } from '../support/raw-connection.ts'
import { type ScriptedUpstream, startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer, type TestServer } from '../support/server.ts'
import { defaults, launch, startServerProcess } from '../support/server-process.ts'
import { temporaryDirectory } from '../support/temporary-files.ts'
import { chunk, DONE, streamReply } from '../support/upstream-replies.ts'

const CLOSING = /SIGTERM: shutting down/
const ORDERLY = { code: 0, signal: null }
const MESSAGES = [{ role: 'user', content: 'Who builds dams?' }]
/** Longer than any test takes. */
const LONG_GRACE = '60'

/** An answer that waits after its first word until it is told to go on. */
function answerInTwoParts(upstream: ScriptedUpstream): () => void {
  const { promise, resolve } = Promise.withResolvers<void>()
  const rest = [chunk({ content: 'do.' }), chunk({}, 'stop'), DONE]
  upstream.always(streamReply(chunk({ content: 'Beavers ' }), { until: promise }, ...rest))
  return resolve
}

/** Resolves with the first words, as the headers come with them. */
function openStream(server: TestServer): Promise<Response> {
  return server.request('/chat', { body: { messages: MESSAGES } })
}

describe('A server that receives SIGTERM', () => {
  it('accepts nothing new, finishes an open stream, and ends with code 0', async () => {
    const upstream = await startScriptedUpstream()
    const goOn = answerInTwoParts(upstream)
    const server = await startServerProcess(modelAt(upstream, { SHUTDOWN_GRACE: LONG_GRACE }))
    const stream = await openStream(server)
    server.send('SIGTERM')
    await server.said(CLOSING)
    await expect.poll(() => openConnection(server).catch(({ code }) => code)).toBe('ECONNREFUSED')
    goOn()
    expect(await readChat(stream)).toMatchObject({ answer: 'Beavers do.', error: undefined })
    expect(await server.exited).toEqual(ORDERLY)
    expect(server.log().map(({ msg }) => msg)).toContain('closed')
    expect(server.stderr).toBe('')
  })

  const signals = ['SIGTERM', 'SIGINT'] as const
  it.each(signals)('ends at once at a second signal, %s', onlyLong, async (signal) => {
    const upstream = await startScriptedUpstream()
    answerInTwoParts(upstream)
    const server = await startServerProcess(modelAt(upstream, { SHUTDOWN_GRACE: LONG_GRACE }))
    const stream = await openStream(server)
    server.send(signal)
    await server.said(/: shutting down; a second signal ends the process immediately/)
    server.send(signal)
    expect(await server.exited).toEqual({ code: 1, signal: null })
    await expect(stream.text()).rejects.toThrow()
  })

  it('ends with code 0 while it still starts', onlyLong, async () => {
    const starting = launch({ directory: await temporaryDirectory(), environment: defaults() })
    await starting.said(/document store opened/)
    starting.send('SIGTERM')
    expect(await starting.exited).toEqual(ORDERLY)
  })

  it('ends in order with idle connections open', onlyLong, async () => {
    const server = await startServerProcess({ SHUTDOWN_GRACE: LONG_GRACE })
    const silent = await openConnection(server)
    const idle = await openConnection(server)
    idle.send('GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n')
    await idle.received(/"ok"/)
    expect(await server.stop()).toEqual(ORDERLY)
    await Promise.all([silent.closed(), idle.closed()])
  })
})

describe('Documents that wait when the server stops', () => {
  it('are kept, and ingested at the next start', onlyLong, async () => {
    const directory = await temporaryDirectory()
    const first = await startServerProcess({ INGEST_CONCURRENCY: '1' }, { directory })
    const numbers = Array.from({ length: 20 }, (_, number) => number)
    const ids = await Promise.all(numbers.map((number) => post(first, number)))
    expect(await first.stop()).toEqual(ORDERLY)

    const second = await startServer({ DATA_DIR: join(directory, 'data') })
    await expect.poll(() => statuses(second), { timeout: 20_000 }).toEqual(ids.map(() => 'ready'))
    for (const [number, id] of ids.entries()) {
      expect((await search(second, `beacon${number}`)).map((hit) => hit.documentId)).toEqual([id])
    }
  })

  it('are kept when it stops before its index is complete', onlyLong, async () => {
    const directory = await temporaryDirectory()
    const first = await startServerProcess({}, { directory })
    for (let number = 0; number < 5; number += 1) await first.ingest(documentOf(number))
    await first.stop()
    await rm(join(directory, 'data', 'index'), { recursive: true })

    const second = await startServerProcess({}, { directory, until: 'listening' })
    expect(await second.stop()).toEqual(ORDERLY)
    const third = await startServerProcess({}, { directory })
    expect(await statuses(third)).toEqual(Array(5).fill('ready'))
    expect(await search(third, 'beacon3')).toHaveLength(1)
  })
})

function documentOf(number: number) {
  const filler = 'The keeper of the light writes down what the weather does. '.repeat(number * 10)
  return { title: `Beacon ${number}`, text: `This is beacon${number}. ${filler}` }
}

async function post(server: TestServer, number: number): Promise<string> {
  const response = await server.request('/documents', { body: documentOf(number) })
  return DocumentCreated.parse(await response.json()).id
}

async function statuses(server: TestServer): Promise<string[]> {
  const { documents } = await listDocuments(server, '?limit=100')
  return documents.map(({ status }) => status)
}
