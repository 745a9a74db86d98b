import { once } from 'node:events'
import { existsSync } from 'node:fs'
import {
  chmod,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  truncate,
  writeFile,
} from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { search } from '../support/knowledge.ts'
import { long, onlyLong, someOf } from '../support/long.ts'
import { startServer } from '../support/server.ts'
import { defaults, launch, startServerProcess } from '../support/server-process.ts'
import { temporaryDirectory } from '../support/temporary-files.ts'

const THREADS_ON_DEMAND = fileURLToPath(new URL('../support/threads-on-demand.ts', import.meta.url))
const FAILED = { code: 1, signal: null }

interface Attempt {
  directory?: string
  environment?: Record<string, string | undefined>
}

/** A start that is to fail; answers what it said on standard error. */
async function failedStart({ directory, environment }: Attempt): Promise<string> {
  const process = launch({
    directory: directory ?? (await temporaryDirectory()),
    environment: { ...defaults(), FAILED_START: 'exit', ...environment },
  })
  expect(await process.exited).toEqual(FAILED)
  expect(process.log().filter(({ msg }) => msg.startsWith('listening'))).toEqual([])
  expect(process.stderr).not.toMatch(/^ {4}at /m)
  return process.stderr
}

it(
  'What a server writes is for its user alone, also in a folder that is open to others',
  onlyLong,
  async () => {
    const directory = await temporaryDirectory()
    await chmod(directory, 0o755)
    const server = await startServerProcess({ DATA_DIR: directory }, { directory })
    await server.ingest({ title: 'towns.csv', text: 'town\nOslo\n' })
    await server.request('/admin/keys', { body: { name: 'A key', scopes: ['query'] } })
    expect((await server.stop()).code).toBe(0)
    const entries = await readdir(directory, { recursive: true, withFileTypes: true })
    const files = entries.filter((entry) => entry.isFile())
    const open = await Promise.all(
      files.map(
        async (entry) => ((await stat(join(entry.parentPath, entry.name))).mode & 0o077) > 0,
      ),
    )
    expect(files.length).toBeGreaterThan(1)
    expect(files.filter((_, index) => open[index]).map(({ name }) => name)).toEqual([])
  },
)

describe('A start that cannot succeed ends with code 1 and says why:', () => {
  it('every wrong variable at once, and no value of any', async () => {
    const directory = await temporaryDirectory()
    const wrong = {
      SERVER_API_KEY: 'too short',
      PORT: '80a',
      TOP_K: '0',
      LOG_LEVEL: 'loud',
      CHAT_BASE_URL: 'ftp://secret-host',
      QDRANT_URL: 'ftp://x',
      DATABASE_URL: 'mysql://x',
    }
    const environment = { ...wrong, CHAT_MODEL: 'a-model' }
    const said = await failedStart({ directory, environment })
    const names = new Set(said.matchAll(/^ {2}([A-Z_]+) /gm).map(([, name]) => name))
    expect(names).toEqual(new Set([...Object.keys(wrong), 'CHAT_API_KEY']))
    for (const value of ['too short', 'secret-host', '80a', 'loud']) {
      expect(said).not.toContain(value)
    }
    expect(await readdir(directory)).toEqual([])
  })

  it('in production, what is missing, without generating a key', onlyLong, async () => {
    const directory = await temporaryDirectory()
    const without = { SERVER_API_KEY: undefined, CHAT_MODEL: undefined, FAILED_START: undefined }
    const environment = { NODE_ENV: 'production', ...without }
    const said = await failedStart({ directory, environment })
    expect(said).toMatch(/SERVER_API_KEY is required/)
    expect(said).toMatch(/CHAT_API_KEY is required/)
    expect(await readdir(directory)).toEqual([])
  })

  it('the port is taken', onlyLong, async () => {
    const holder = createServer().listen(0, '127.0.0.1')
    onTestFinished(() => void holder.close())
    await once(holder, 'listening')
    const address = holder.address()
    const port = typeof address === 'object' ? address?.port : undefined
    const said = await failedStart({ environment: { PORT: String(port) } })
    expect(said).toContain(`127.0.0.1:${port}: another server is listening there. Set PORT`)
  })

  it('the address is not one of this machine', onlyLong, async () => {
    const said = await failedStart({ environment: { HOST: '192.0.2.1' } })
    expect(said).toMatch(/192\.0\.2\.1.*: HOST must be an address of this machine/)
  })

  it('the data directory is in use, and the server that uses it goes on', onlyLong, async () => {
    const directory = await temporaryDirectory()
    const server = await startServer({ DATA_DIR: join(directory, 'data') })
    const said = await failedStart({ directory })
    expect(said).toMatch(/Another server is using the data directory .+DATA_DIR/)
    expect((await server.request('/readiness')).status).toBe(200)
  })

  it('the data directory cannot be made', onlyLong, async () => {
    const directory = await temporaryDirectory()
    await writeFile(join(directory, 'data'), 'a file')
    expect(await failedStart({ directory })).toMatch(
      /Cannot make the data directory .+ Set DATA_DIR/,
    )
  })

  it('the data directory is where nothing can be made', onlyLong, async () => {
    const said = await failedStart({ environment: { DATA_DIR: '/proc/nothing/data' } })
    expect(said).toMatch(/Cannot make the data directory .+ Set DATA_DIR/)
  })

  it('unless it is to be corrected in the browser: agent.json is a folder', onlyLong, async () => {
    const environment = { FAILED_START: 'web-ui', AGENT_CONFIG: await temporaryDirectory() }
    const server = await startServerProcess(environment, { until: 'listening' })
    expect(await (await server.request('/admin/server')).json()).toMatchObject({
      state: 'failed',
      reason: `${environment.AGENT_CONFIG} is a folder`,
    })
  })

  it(
    'unless it is to be corrected in the browser: the data directory is in use',
    onlyLong,
    async () => {
      const directory = await temporaryDirectory()
      await startServer({ DATA_DIR: join(directory, 'data') })
      const environment = { FAILED_START: 'web-ui' }
      const server = await startServerProcess(environment, { directory, until: 'listening' })
      expect(await (await server.request('/admin/server')).json()).toMatchObject({
        state: 'failed',
        reason: expect.stringMatching(/Another server is using the data directory .+DATA_DIR/),
      })
    },
  )

  it.each([
    [
      'of a newer server',
      'PRAGMA application_id = 0x41675376; PRAGMA user_version = 99',
      /newer server/,
    ],
    ['of another program', 'CREATE TABLE songs (name TEXT)', /belongs to another program/],
  ])('the database is %s, and stays as it is', onlyLong, async (_whose, sql, why) => {
    const directory = await temporaryDirectory()
    const file = await makeDatabase(directory, sql)
    const before = await readFile(file)
    expect(await failedStart({ directory })).toMatch(why)
    expect(await readFile(file)).toEqual(before)
  })

  it('the database is damaged', onlyLong, async () => {
    const directory = await temporaryDirectory()
    const file = await makeDatabase(directory, 'PRAGMA user_version = 1')
    await writeFile(file, 'no database at all, but long enough to be taken for one '.repeat(200))
    expect(await failedStart({ directory })).toMatch(/agent-server\.db: .+\(not a database\)/)
  })

  it.each([
    ['no JSON', '{"name": ', /agent\.json is not a valid .+is not valid JSON/s],
    [
      'not an agent',
      '{"nmae": "x", "prompt": 3}',
      /agent\.json is not a valid .+prompt must be a string.+nmae/s,
    ],
  ])('agent.json is %s', onlyLong, async (_what, text, why) => {
    const directory = await temporaryDirectory()
    await writeFile(join(directory, 'agent.json'), text)
    expect(await failedStart({ directory })).toMatch(why)
    expect(existsSync(join(directory, 'data'))).toBe(false)
  })
})

describe('A start on a search index that is', () => {
  /** What a server with one document has left, to be copied. */
  let left: string
  let directory: string
  let index: string

  beforeAll(async () => {
    left = await mkdtemp(join(tmpdir(), 'agent-server-'))
    const server = await startServer({ DATA_DIR: join(left, 'data') })
    await server.ingest({ title: 'Lighthouse', text: 'The lighthouse was lit in 1811.' })
    await server.close()
    return () => rm(left, { recursive: true })
  })

  beforeEach(async () => {
    directory = await temporaryDirectory()
    index = join(directory, 'data', 'index')
    await cp(left, directory, { recursive: true })
  })

  const segments = async () => (await readdir(index)).filter((file) => file.endsWith('.segment'))
  const damage: [string, RegExp, () => Promise<void>][] = [
    [
      'altered by a bit',
      /part of the search index was lost/,
      async () => {
        for (const file of await segments()) await flipBit(join(index, file))
      },
    ],
    ['missing', /lacks chunks/, () => rm(index, { recursive: true })],
    ['without its manifest', /lacks chunks/, () => rm(join(index, 'manifest.json'))],
    [
      'cut short',
      /part of the search index was lost/,
      async () => {
        for (const file of await segments()) await truncate(join(index, file), 100)
      },
    ],
    [
      'described by a broken manifest',
      /no readable manifest/,
      () => writeFile(join(index, 'manifest.json'), '{"format": 1'),
    ],
  ]

  it.each(damage)('%s makes it again, and says so', onlyLong, async (_what, said, break_) => {
    expect(await segments()).not.toEqual([])
    await break_()
    const server = await startServerProcess({}, { directory })
    await server.said(said)
    expect(await search(server, 'lighthouse')).toHaveLength(1)
    expect(server.stderr).toBe('')
    expect(await server.stop()).toEqual({ code: 0, signal: null })
    expect(await segments()).toHaveLength(1)
  })

  it('unreadable ends with code 1 and says why', onlyLong, async () => {
    await rm(index, { recursive: true })
    await writeFile(index, 'a file')
    const server = launch({ directory, environment: defaults() })
    expect(await server.exited).toEqual(FAILED)
    expect(server.stderr).toMatch(/EEXIST.+index/)
  })

  it('not loaded yet answers within its deadlines, and stops in order', onlyLong, async () => {
    await writeFile(join(directory, 'hold-index'), '')
    const environment = { NODE_OPTIONS: `--import ${THREADS_ON_DEMAND}` }
    const server = await startServerProcess(environment, { directory, until: 'listening' })
    const statusOf = async (path: string, body?: object) =>
      (await server.request(path, body && { body })).status
    expect(await statusOf('/health')).toBe(200)
    expect(await statusOf('/readiness')).toBe(503)
    expect(await statusOf('/query', { query: 'lighthouse' })).toBe(503)
    expect(await statusOf('/documents', { text: 'The harbour froze in 1829.' })).toBe(202)
    const stopped = server.stop()
    await rm(join(directory, 'hold-index'))
    expect(await stopped).toEqual({ code: 0, signal: null })
    expect(server.stderr).toBe('')
    const next = await startServer({ DATA_DIR: join(directory, 'data') })
    await expect.poll(() => search(next, 'harbour')).toHaveLength(1)
  })

  it('made for another language makes it again', onlyLong, async () => {
    const server = await startServerProcess({ SEARCH_LANGUAGE: 'none' }, { directory })
    await server.said(/created with other settings/)
    expect(await search(server, 'lighthouse')).toHaveLength(1)
  })

  it(
    'left behind by another database makes it again, though that gave out the same keys',
    onlyLong,
    async () => {
      const other = await startServerProcess()
      await other.ingest({ title: 'Otters', text: 'Otters hold hands while they sleep.' })
      await other.stop()
      const file = join('data', 'agent-server.db')
      await cp(join(other.directory, file), join(directory, file))
      const server = await startServerProcess({}, { directory })
      await server.said(/from another database: rebuilding it/)
      expect(await search(server, 'otters')).toHaveLength(1)
      expect(await search(server, 'lighthouse')).toEqual([])
    },
  )
})

describe('A server of which a thread dies', () => {
  it.each(someOf(['writer', 'index'], 1))(
    'ends with code 1 if it is the %s, losing nothing',
    long,
    async (name) => {
      const directory = await temporaryDirectory()
      const environment = { NODE_OPTIONS: `--import ${THREADS_ON_DEMAND}` }
      const server = await startServerProcess(environment, { directory })
      await server.ingest({ text: 'The lighthouse was lit in 1811.' })
      await mkdir(join(directory, `end-${name}`))
      expect(await server.exited).toEqual(FAILED)
      // A request that ends meanwhile may have its line after it.
      const fatal = server.log().filter(({ level }) => level === 60)
      expect(fatal).toMatchObject([{ msg: expect.stringMatching(/a vital part has failed/) }])

      const next = await startServer({ DATA_DIR: join(directory, 'data') })
      expect(await search(next, 'lighthouse')).toHaveLength(1)
    },
  )

  it('continues if it is the thread that splits documents', onlyLong, async () => {
    const server = await startServerProcess({ NODE_OPTIONS: `--import ${THREADS_ON_DEMAND}` })
    await server.ingest({ text: 'The lighthouse was lit in 1811.' })
    await mkdir(join(server.directory, 'end-preparer'))
    await server.ingest({ text: 'The harbour froze in 1829.' })
    expect(await search(server, 'harbour')).toHaveLength(1)
  })
})

async function makeDatabase(directory: string, sql: string): Promise<string> {
  await mkdir(join(directory, 'data'))
  const file = join(directory, 'data', 'agent-server.db')
  const database = new DatabaseSync(file)
  database.exec(sql)
  database.close()
  return file
}

async function flipBit(file: string): Promise<void> {
  const bytes = await readFile(file)
  // Of what the server holds in memory, which the terms of each chunk follow.
  const middle = Math.floor(bytes.length / 3)
  bytes.writeUInt8(bytes.readUInt8(middle) ^ 1, middle)
  await writeFile(file, bytes)
}
