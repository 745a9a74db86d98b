import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runAgentServer } from '../support/agent-server.ts'
import { clientOf } from '../support/client.ts'
import { onlyLong } from '../support/long.ts'
import { startServer, TEST_KEY } from '../support/server.ts'
import { temporaryDirectory } from '../support/temporary-files.ts'

const server = await startServer()
const client = clientOf(server)
const environment = { AGENT_SERVER_URL: server.url, AGENT_SERVER_KEY: TEST_KEY }
const run = (...parameters: string[]) => runAgentServer(parameters, { environment })
const lines = (text: string) => text.trim().split('\n')

describe('agent-server-client keys', () => {
  it('creates a key that works, lists it and revokes it', async () => {
    const rights = ['--scope', 'query', '--scope', 'ingest', '--expires', '2100-01-31']
    const made = await run('keys', 'create', 'web', 'site', ...rights)
    expect(made).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/only once.*id is \S+\n$/),
    })
    const apiKey = made.stdout.trim()
    await clientOf(server, { apiKey }).query('owls')
    const [row = ''] = lines((await run('keys', 'list')).stdout)
    expect(row).toMatch(/^\S+ {2}web site {2}query ingest {2}.* {2}until 2100-01-31T/)
    expect(row).not.toContain(apiKey)
    const [id = ''] = row.split(' ')
    expect(await run('keys', 'revoke', 'none', id)).toMatchObject({
      code: 1,
      stdout: `${id} revoked\n`,
      stderr: expect.stringMatching(/^none: /),
    })
    await expect(clientOf(server, { apiKey }).query('owls')).rejects.toMatchObject({ status: 401 })
  })
})

describe('agent-server-client conversations and feedback', () => {
  it('show what was asked and answered, and what people think of it', async () => {
    await client.documents.replace('owls', { text: 'Owls hunt at night.' }, { wait: 20 })
    const { id } = await client.conversations.create({})
    const messages = [{ role: 'user' as const, content: 'When do owls hunt?' }]
    await client.chat({ messages, conversation: { id } }).result()
    const { stdout } = await run('conversations', 'list', '--search', 'owls')
    expect(stdout).toMatch(new RegExp(`^${id} {2}\\d{4}-.* {2}When do owls hunt\\?\n$`))
    expect((await run('conversations', 'get', id)).stdout).toMatch(
      /^user: When do owls hunt\?\n\nassistant: .*Owls hunt at night/s,
    )
    const answer = (await client.conversations.get(id)).last_item_id ?? ''
    const rated = ['--rating', 'down', '--conversation', id, '--comment', 'Too short']
    expect(await run('feedback', 'give', answer, ...rated)).toMatchObject({
      code: 0,
      stdout: `${answer} rated down\n`,
    })
    const [given = ''] = lines((await run('feedback', 'list', '--rating', 'down')).stdout)
    expect(given).toMatch(/^\S+ {2}down {2}When do owls hunt\? – Too short$/)
    expect((await run('feedback', 'list', '--rating', 'up')).stdout).toBe('')
    const [feedbackId = ''] = given.split(' ')
    expect((await run('feedback', 'rm', feedbackId)).stdout).toBe(`${feedbackId} removed\n`)
    expect((await run('conversations', 'rm', id, '--json')).stdout).toBe(
      `{"id":"${id}","ok":true}\n`,
    )
  })
})

describe('agent-server-client', () => {
  it('takes --url and --json before the command, too', onlyLong, async () => {
    const own = { environment: { AGENT_SERVER_KEY: TEST_KEY } }
    for (const url of [['--url', server.url], [`--url=${server.url}`]]) {
      const { code, stdout } = await runAgentServer([...url, '--json', 'query', 'owls'], own)
      expect([code, JSON.parse(stdout).query]).toEqual([0, 'owls'])
    }
    expect(await run('--url', 'http://127.0.0.1:9', 'query', 'owls')).toMatchObject({ code: 3 })
  })

  it(
    'sends metadata as the numbers and booleans that it is written as, into a collection',
    onlyLong,
    async () => {
      const folder = join(await temporaryDirectory(), 'lake')
      await mkdir(folder)
      await writeFile(join(folder, 'coots.md'), 'Coots swim on the lake.')
      const pairs = ['year=2026', 'draft=true', 'version=1.10', 'code=007', 'label="2026"']
      const metadata = pairs.flatMap((pair) => ['--metadata', pair])
      const added = await run('add', folder, '--collection', 'lake', ...metadata)
      expect(added.stdout).toBe('1 ready, 0 unchanged, 0 failed\n')
      const [document] = (await client.documents.list({ collection: 'lake' })).items
      const typed = { year: 2026, draft: true, version: '1.10', code: '007', label: '2026' }
      expect(document?.metadata).toMatchObject(typed)
      const listed = await run('documents', 'list', '--collection', 'lake', '--json')
      expect(lines(listed.stdout)).toHaveLength(1)
      const search = ['query', 'coots swim', '--effort', 'low', '--filter', 'year=2026', '--json']
      const hitsIn = async (collection: string) =>
        JSON.parse((await run(...search, '--collection', collection)).stdout).hits
      expect(await hitsIn('lake')).toHaveLength(1)
      expect(await hitsIn('default')).toEqual([])
    },
  )

  it(
    'sends a key from the environment to the server of the login, unless another is named',
    onlyLong,
    async () => {
      const directory = await temporaryDirectory()
      const saved = { environment: { XDG_CONFIG_HOME: directory } }
      const login = await runAgentServer(['login', server.url], { ...saved, input: TEST_KEY })
      expect(login.code).toBe(0)
      const withKey = (key: string, url?: string) => ({
        environment: {
          XDG_CONFIG_HOME: directory,
          AGENT_SERVER_KEY: key,
          ...(url && { AGENT_SERVER_URL: url }),
        },
      })
      const other = await client.admin.keys.create({ name: 'other', scopes: ['query'] })
      expect(await runAgentServer(['query', 'owls'], withKey(other.secret))).toMatchObject({
        code: 0,
      })
      const several = ['conversations', 'rm', 'one', 'two']
      const refused = await runAgentServer(several, withKey('wrong-key-of-somebody'))
      expect(refused.code).toBe(4)
      expect(lines(refused.stderr)).toHaveLength(1)
      expect(await runAgentServer(['status'], withKey('wrong-key-of-somebody'))).toMatchObject({
        code: 4,
      })
      const elsewhere = withKey(other.secret, 'http://127.0.0.1:9')
      expect(await runAgentServer(['query', 'owls'], elsewhere)).toMatchObject({ code: 3 })
    },
  )
})
