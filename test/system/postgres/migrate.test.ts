import { pino } from 'pino'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openDirectory } from '../../../packages/stores/test/sqlite/store-data.ts'
import { runMigrate } from '../../../src/commands/transfer.ts'
import { loadConfig } from '../../../src/config.ts'
import { search } from '../../support/knowledge.ts'
import { startQdrant } from '../../support/qdrant/nodes.ts'
import { startScriptedEmbedder } from '../../support/scripted-embedder.ts'
import { startServer, TEST_KEY } from '../../support/server.ts'
import { temporaryDirectory } from '../../support/temporary-files.ts'
import { createPostgresData, hasPostgres } from './store-data.ts'

/** What the command answers and tells whoever runs it. */
async function migrate(environment: Record<string, string>, ...parameters: string[]) {
  let output = ''
  const code = await runMigrate({
    parameters,
    environment,
    config: () =>
      loadConfig({ SERVER_API_KEY: TEST_KEY, CHAT_MODEL: 'extractive', ...environment }),
    createLog: () => pino({ level: 'silent' }),
    stderr: {
      write(text: string) {
        output += text
      },
    },
    signal: new AbortController().signal,
  })
  return { code, output }
}

describe.skipIf(!hasPostgres)('npm run migrate (needs PostgreSQL)', () => {
  it('brings a corpus with its vectors from the embedded default, and embeds nothing again', async () => {
    const embedder = await startScriptedEmbedder()
    const embedding = {
      EMBEDDING_MODEL: 'hashed-words',
      EMBEDDING_BASE_URL: embedder.url,
      EMBEDDING_API_KEY: 'embedding-key-5521',
    }
    const directory = await temporaryDirectory()
    const before = await startServer({ DATA_DIR: directory, ...embedding })
    const id = await before.ingest({ title: 'Vehicles', text: 'A car needs fuel.' })
    await before.ingest({ title: 'Otters', text: 'Otters hold hands.' })
    await before.close()
    const embedded = embedder.requests.length
    const stored = await openDirectory(directory)
    await stored.acceptedTools.see('one', 'https://example.org/mcp', new Map([['add', 'a digest']]))
    await stored.close()

    const qdrant = await startQdrant()
    const data = await createPostgresData()
    onTestFinished(() => data.remove())
    const environment = { DATA_DIR: directory, ...embedding }
    const destination = ['--to', data.url, '--index', qdrant.url]
    const first = await migrate(environment, ...destination)
    expect(first).toMatchObject({ code: 0, output: expect.stringContaining('Copied 2 documents') })
    const again = await migrate(environment, ...destination)
    expect(again).toMatchObject({ code: 0, output: expect.stringContaining('already copied') })
    expect(first.output + again.output).not.toContain(data.url)
    expect(embedder.requests).toHaveLength(embedded)
    expect(await data.sql('SELECT * FROM agent_server.mcp_tools')).toEqual([
      { connection: 'one', name: 'add', digest: 'a digest' },
    ])

    const after = await startServer({
      DATABASE_URL: data.url,
      QDRANT_URL: qdrant.url,
      ...embedding,
    })
    expect((await search(after, 'automobile', 1)).map(({ documentId }) => documentId)).toEqual([id])
    expect((await search(after, 'otters', 1)).map(({ title }) => title)).toEqual(['Otters'])
    expect(qdrant.mistakes).toEqual([])
  })
})

describe('npm run migrate', () => {
  it.each([
    ['no destination', []],
    ['no index', ['--to', 'postgres://127.0.0.1/agent']],
    [
      'a document store that is none',
      ['--to', 'http://127.0.0.1', '--index', 'http://127.0.0.1:6333'],
    ],
    ['an option that there is not', ['--from', 'data']],
  ])('tells how it is used where it is given %s', async (_case, parameters) => {
    const { code, output } = await migrate({}, ...parameters)
    expect(code).toBe(2)
    expect(output).toContain('Usage: npm run migrate')
  })
})
