import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { ChosenId } from '@agent-server/schemas/new-document.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { AuthenticationError } from '../../packages/client/src/agent-server.ts'
import { addFiles } from '../../packages/client/src/command-line/add-files.ts'
import { walkFolder } from '../../packages/client/src/command-line/walk-folder.ts'
import { clientOf } from '../support/client.ts'
import { type Fault, startHttpProxy } from '../support/http-proxy.ts'
import { deleteDocuments, listDocuments, search } from '../support/knowledge.ts'
import { startServer, TEST_KEY } from '../support/server.ts'
import { temporaryDirectory } from '../support/temporary-files.ts'

const { signal } = new AbortController()

const server = await startServer()
afterEach(() => deleteDocuments(server))

interface Options {
  url: string
  key?: string
  metadata?: Record<string, string>
  signal?: AbortSignal
  progress?: (done: number, failed: number) => void
}

async function run(folder: string, options: Options) {
  const paths = await walkFolder(folder, { include: [], hidden: false }, signal)
  return addFiles(
    {
      files: paths.map((path) => ({ file: join(folder, path), path: `docs/${path}` })),
      metadata: options.metadata ?? {},
      concurrency: 3,
      client: clientOf(options, { apiKey: options.key ?? TEST_KEY }),
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

describe('Adding the files of a folder', () => {
  it('makes each file a document that tells where it comes from', async () => {
    const folder = await temporaryDirectory()
    await write(folder, { 'guide/Öl & Gas.md': 'Pipelines leak.', 'b.txt': 'Badgers dig.' })
    const reported: number[] = []
    const progress = (done: number) => reported.push(done)
    const summary = await run(folder, { url: server.url, metadata: { language: 'en' }, progress })
    expect(summary).toEqual({ ready: 2, unchanged: 0, leftOut: {}, failed: [] })
    expect(reported).toEqual([1, 2])
    expect(await search(server, 'pipelines')).toMatchObject([
      {
        documentId: expect.stringMatching(/^docs-guide-l-Gas\.md-[0-9a-f]{16}$/),
        title: 'Öl & Gas.md',
        metadata: { language: 'en', source_path: 'docs/guide/Öl & Gas.md' },
      },
    ])
  })

  it('sends nothing that is of a kind which is not read, and counts it by kind', async () => {
    const folder = await temporaryDirectory()
    await write(folder, {
      'a.md': 'Badgers dig.',
      'tools/a.exe': 'MZ',
      'tools/b.dll': 'MZ',
      'old.gz': Buffer.from([0x1f, 0x8b, 8, 0]),
      'g.txt': 'M',
      '__init__.py': '',
      'blank.md': ' \r\n\n',
    })
    const { leftOut, ...summary } = await run(folder, { url: server.url })
    expect(summary).toEqual({ ready: 2, unchanged: 0, failed: [] })
    expect(leftOut).toEqual({
      'a Windows program': 2,
      'a compressed archive': 1,
      'an empty file': 2,
    })
    expect((await listDocuments(server)).documents).toHaveLength(2)
  })

  it('sends a second time only what is new or has changed', async () => {
    const folder = await temporaryDirectory()
    await write(folder, { 'a.md': 'Ants march.', 'b.md': 'Bees hum.', 'c.md': 'Cats nap.' })
    await run(folder, { url: server.url })
    await write(folder, { 'b.md': 'Bees dance.', 'd.md': 'Dogs bark.' })
    const summary = await run(folder, { url: server.url })
    expect(summary).toEqual({ ready: 2, unchanged: 2, leftOut: {}, failed: [] })
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
    const { url } = await startServer({ BODY_LIMIT: '2000' })
    const folder = await temporaryDirectory()
    await write(folder, {
      'broken.pdf': '%PDF-1.7 broken',
      'good.md': 'Geese fly.',
      'large.md': 'x '.repeat(2_000),
    })
    const expected = {
      failed: [
        { path: 'docs/broken.pdf', reason: expect.stringMatching(/^damaged_file: /) },
        { path: 'docs/large.md', reason: expect.stringMatching(/^body_too_large: /) },
      ],
    }
    expect(await run(folder, { url })).toMatchObject({ ready: 1, ...expected })
    expect(await run(folder, { url })).toMatchObject({ unchanged: 1, ...expected })
  })

  it('tells of a file that is gone before it could be read', async () => {
    const folder = await temporaryDirectory()
    await write(folder, { 'a.md': 'Ants march.', 'b.md': 'Bees hum.' })
    await rm(join(folder, 'a.md'))
    const files = ['a.md', 'b.md'].map((path) => ({ file: join(folder, path), path }))
    const progress = () => undefined
    const client = clientOf(server)
    const summary = await addFiles(
      { files, metadata: {}, concurrency: 1, client, progress },
      signal,
    )
    expect(summary).toEqual({
      ready: 1,
      unchanged: 0,
      leftOut: {},
      failed: [{ path: 'a.md', reason: 'cannot be read (ENOENT)' }],
    })
  })

  it('ends at once where the key is wrong, and where it is interrupted', async () => {
    const folder = await temporaryDirectory()
    await write(folder, { 'a.md': 'Ants march.', 'b.md': 'Bees hum.' })
    await expect(run(folder, { url: server.url, key: 'wrong' })).rejects.toThrow(
      AuthenticationError,
    )
    const stop = new AbortController()
    const progress = () => stop.abort(new Error('stopped'))
    await expect(run(folder, { url: server.url, signal: stop.signal, progress })).rejects.toThrow(
      'stopped',
    )
  })
})

describe('What is sent of a file', () => {
  it('is its text where it is UTF-8 text, else the file as it is', async () => {
    const folder = await temporaryDirectory()
    await write(folder, {
      'a.MD': 'Äpfel.',
      'b.rst': 'Birnen.',
      'c.html': '<p>Cherries.</p>',
      'd.txt': Buffer.from('Äpfel in an old encoding', 'latin1'),
      // Too long to be sent as text, and soon ingested.
      'e.txt': `x${' '.repeat(4_000_001)}`,
    })
    expect(await run(folder, { url: server.url })).toMatchObject({ ready: 5 })
    const { documents } = await listDocuments(server)
    const sizes = documents.map(({ title, file }) => [title, file?.size])
    expect(Object.fromEntries(sizes)).toEqual({
      'a.MD': undefined,
      'b.rst': undefined,
      'c.html': 16,
      'd.txt': 24,
      'e.txt': 4_000_002,
    })
  })

  it('goes by an id that the server takes, one for each path, however it is written', async () => {
    const folder = await temporaryDirectory()
    const long = `${'very-long/'.repeat(60)}end.md`
    const paths = ['Öl & Gas/préface 1.md', '文档/说明.txt', 'a b.md', 'a-b.md', 'a/b.md', long]
    await write(folder, Object.fromEntries(paths.map((path) => [path, `In ${path}`])))
    expect(await run(folder, { url: server.url })).toMatchObject({ ready: paths.length })
    const { documents } = await listDocuments(server)
    expect(documents.map(({ id }) => ChosenId.safeParse(id).error)).toEqual(
      paths.map(() => undefined),
    )
    const sources = documents.map(({ metadata }) => metadata?.source_path)
    expect(sources.toSorted()).toEqual(paths.map((path) => `docs/${path}`.slice(-500)).toSorted())
  })
})

describe('A server that cannot take a file at once', () => {
  const sent = async (...faults: Fault[]) => {
    const proxy = await startHttpProxy(server)
    proxy.fail(...faults)
    const folder = await temporaryDirectory()
    await write(folder, { 'a.md': 'Ants march.' })
    return run(folder, { url: proxy.url })
  }

  it('is asked again when it says so, and where the connection breaks', async () => {
    const busy: Fault = { status: 429, headers: { 'retry-after': '0' } }
    expect(await sent(busy, 'refuse')).toMatchObject({ ready: 1 })
  })

  it('is told from another program', async () => {
    await expect(sent({ status: 200, body: '<html>' })).rejects.toThrow(/Agent Server/)
  })
})
