import { mkdir, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ingestFolder, walkFolder } from '../../../src/services/folder/ingest-folder.ts'
import { createServerClient } from '../../../src/services/folder/server-client.ts'
import { listDocuments, search } from '../../support/knowledge.ts'
import { startServer, TEST_KEY } from '../../support/server.ts'
import { temporaryDirectory } from '../../support/temporary-files.ts'

const { signal } = new AbortController()

interface Options {
  url: string
  key?: string
  metadata?: Record<string, string>
  signal?: AbortSignal
  progress?: (done: number, failed: number) => void
}

async function run(folder: string, options: Options) {
  return ingestFolder(
    {
      ...{ folder, name: 'docs', metadata: options.metadata ?? {}, concurrency: 3 },
      files: await walkFolder(folder, { include: [], hidden: false }, signal),
      client: createServerClient({ url: options.url, key: options.key ?? TEST_KEY }),
      progress: options.progress ?? (() => undefined),
    },
    options.signal ?? signal,
  )
}

async function write(folder: string, files: Record<string, string | Buffer>) {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), content)
  }
}

describe('Ingesting a folder', () => {
  it('makes each file a document that tells where it comes from', async () => {
    const server = await startServer()
    const folder = await temporaryDirectory()
    await write(folder, { 'guide/Öl & Gas.md': 'Pipelines leak.', 'b.txt': 'Badgers dig.' })
    const told: number[] = []
    const progress = (done: number) => told.push(done)
    const summary = await run(folder, { url: server.url, metadata: { language: 'en' }, progress })
    expect(summary).toEqual({ ready: 2, unchanged: 0, leftOut: new Map(), failed: [] })
    expect(told).toEqual([1, 2])
    expect(await search(server, 'pipelines')).toMatchObject([
      {
        documentId: expect.stringMatching(/^docs-guide-l-Gas\.md-[0-9a-f]{16}$/),
        title: 'Öl & Gas.md',
        metadata: { language: 'en', source_path: 'docs/guide/Öl & Gas.md' },
      },
    ])
  })

  it('sends nothing that is of a kind which is not read, and counts it by kind', async () => {
    const server = await startServer()
    const folder = await temporaryDirectory()
    await write(folder, {
      'a.md': 'Badgers dig.',
      'icons/a.gif': 'GIF89a',
      'icons/b.png': Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10]),
      'old.gz': Buffer.from([0x1f, 0x8b, 8, 0]),
      'g.txt': 'GIF',
    })
    const { leftOut, ...summary } = await run(folder, { url: server.url })
    expect(summary).toEqual({ ready: 2, unchanged: 0, failed: [] })
    expect(leftOut).toEqual(
      new Map([
        ['an image', 2],
        ['a compressed archive', 1],
      ]),
    )
    expect((await listDocuments(server)).documents).toHaveLength(2)
  })

  it('sends a second time only what is new or has changed', async () => {
    const server = await startServer()
    const folder = await temporaryDirectory()
    await write(folder, { 'a.md': 'Ants march.', 'b.md': 'Bees hum.', 'c.md': 'Cats nap.' })
    await run(folder, { url: server.url })
    await write(folder, { 'b.md': 'Bees dance.', 'd.md': 'Dogs bark.' })
    const summary = await run(folder, { url: server.url })
    expect(summary).toEqual({ ready: 2, unchanged: 2, leftOut: new Map(), failed: [] })
    const { documents } = await listDocuments(server)
    expect(documents.map(({ title, revision }) => [title, revision]).toSorted()).toEqual([
      ['a.md', 1],
      ['b.md', 2],
      ['c.md', 1],
      ['d.md', 1],
    ])
    expect(await run(folder, { url: server.url, metadata: { year: '2026' } })).toMatchObject({
      ready: 4,
    })
  })

  it('lets a file fail alone, with the reason, and tries it again in the next run', async () => {
    const server = await startServer({ BODY_LIMIT: '2000' })
    const folder = await temporaryDirectory()
    await write(folder, {
      'blank.md': '  ',
      'good.md': 'Geese fly.',
      'large.md': 'x '.repeat(2_000),
    })
    const expected = {
      failed: [
        {
          path: 'blank.md',
          reason: expect.stringMatching(/^invalid_request: text: must not be empty/),
        },
        { path: 'large.md', reason: expect.stringMatching(/^body_too_large: /) },
      ],
    }
    expect(await run(folder, { url: server.url })).toMatchObject({ ready: 1, ...expected })
    expect(await run(folder, { url: server.url })).toMatchObject({ unchanged: 1, ...expected })
  })

  it('tells of a file that is gone before it could be read', async () => {
    const server = await startServer()
    const folder = await temporaryDirectory()
    await write(folder, { 'a.md': 'Ants march.', 'b.md': 'Bees hum.' })
    const client = createServerClient({ url: server.url, key: TEST_KEY })
    await rm(join(folder, 'a.md'))
    const files = ['a.md', 'b.md']
    const progress = () => undefined
    const summary = await ingestFolder(
      { folder, files, name: 'docs', metadata: {}, concurrency: 1, client, progress },
      signal,
    )
    expect(summary).toEqual({
      ...{ ready: 1, unchanged: 0, leftOut: new Map() },
      failed: [{ path: 'a.md', reason: 'cannot be read (ENOENT)' }],
    })
  })

  it('ends at once where the key is wrong, and where it is interrupted', async () => {
    const server = await startServer()
    const folder = await temporaryDirectory()
    await write(folder, { 'a.md': 'Ants march.', 'b.md': 'Bees hum.' })
    await expect(run(folder, { url: server.url, key: 'wrong' })).rejects.toThrow(/SERVER_API_KEY/)
    const stop = new AbortController()
    const progress = () => stop.abort(new Error('stopped'))
    await expect(run(folder, { url: server.url, signal: stop.signal, progress })).rejects.toThrow(
      'stopped',
    )
  })
})

type Answer = (request: IncomingMessage, response: ServerResponse) => void

/** A fake server that answers documents that are put with each of `answers` once, then with `ready`. */
async function startFake(answers: Answer[]) {
  const server = createServer((request, response) => {
    if (request.method === 'GET') {
      const error = { message: 'm', type: 'invalid_request_error', code: 'document_not_found' }
      response
        .writeHead(404)
        .end(JSON.stringify({ error: { ...error, param: null, request_id: 'r' } }))
      return
    }
    request.resume()
    const answer = answers.shift()
    if (answer) answer(request, response)
    else response.end(JSON.stringify({ id: 'x', status: 'ready' }))
  })
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  if (typeof address !== 'object' || !address) throw new Error('The server has no port')
  return `http://127.0.0.1:${address.port}`
}

describe('A server that cannot take a file at once', () => {
  const sent = async (...answers: Answer[]) => {
    const folder = await temporaryDirectory()
    await write(folder, { 'a.md': 'Ants march.' })
    return run(folder, { url: await startFake(answers) })
  }

  it('is asked again when it says so', async () => {
    const busy: Answer = (_request, response) =>
      response.writeHead(429, { 'retry-after': '0' }).end()
    expect(await sent(busy, busy)).toMatchObject({ ready: 1 })
  })

  it('is asked again where the connection breaks', async () => {
    expect(await sent((request) => request.destroy())).toMatchObject({ ready: 1 })
  })

  it.each<[string, Answer]>([
    ['another program', (_request, response) => void response.end('<html>')],
    [
      'another program that refuses',
      (_request, response) => void response.writeHead(400).end('no'),
    ],
  ])('is told from %s', async (_what, answer) => {
    const outcome = await sent(answer).catch((error: unknown) => String(error))
    expect(JSON.stringify(outcome)).toMatch(/Agent Server/)
  })
})
