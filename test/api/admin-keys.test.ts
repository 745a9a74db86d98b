import { hash } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Settings } from '@agent-server/schemas/operator/admin.ts'
import { ApiKeyCreated } from '@agent-server/schemas/operator/api-key.ts'
import { beforeEach, describe, expect, it } from 'vitest'
import { VARIABLE_NAMES } from '../../src/config.ts'
import { failureOf } from '../support/failure.ts'
import { requester, startServer, TEST_KEY } from '../support/server.ts'
import { temporaryDirectory } from '../support/temporary-files.ts'

const AGENT = JSON.stringify({
  prompt: 'Answer.',
  mcpServers: { own: { url: 'https://mcp.example.org', enabled: false } },
})
const ENVIRONMENT = `SERVER_API_KEY=${TEST_KEY}\nCHAT_API_KEY=sk-of-the-model-0123456789\n`

const directory = await temporaryDirectory()
const agentFile = join(directory, 'agent.json')
const file = join(directory, '.env')
const write = () => Promise.all([writeFile(agentFile, AGENT), writeFile(file, ENVIRONMENT)])
await write()
await mkdir(join(directory, 'plugins'))
const TOOL = `{ name: 'note', description: 'x', inputSchema: { type: 'object' }, run: async () => 1 }`
await writeFile(join(directory, 'plugins/desk.mjs'), `export default [${TOOL}]`)
const server = await startServer({ DATA_DIR: directory }, { given: { CHAT_MODEL: 'extractive' } })
const created = await server.request('/admin/keys', { body: { name: 'A', scopes: ['admin'] } })
const { request } = requesterOf(ApiKeyCreated.parse(await created.json()).secret)

beforeEach(write)

function requesterOf(secret: string) {
  return { request: requester(server.url, secret) }
}

const digestOf = (text: string) => hash('sha256', text)
const save = (agent: object, by = request) =>
  by('/admin/agent', {
    method: 'PUT',
    body: { text: JSON.stringify(agent), basedOn: digestOf(AGENT) },
  })
const change = (changes: object, by = request) =>
  by('/admin/settings', { method: 'PATCH', body: { basedOn: digestOf(ENVIRONMENT), ...changes } })
const refused = (param?: string) => ({
  status: 403,
  code: 'insufficient_scope',
  ...(param && { param }),
})

/** The parts of the agent that make the server run, open or call something. */
const PARTS: [string, object][] = [
  ['plugins', { plugins: ['./plugins/desk.mjs'] }],
  ['mcpServers', { mcpServers: { thief: { url: 'https://thief.example/mcp' } } }],
  ['skills', { skills: { sources: ['/etc'] } }],
  ['sandbox', { sandbox: { kind: 'docker', image: 'thief' } }],
]

describe('A key with admin', () => {
  it.each(PARTS)('does not change %s of the agent, nor restore it', async (field, part) => {
    const agent = { ...JSON.parse(AGENT), ...part }
    expect(await failureOf(await save(agent))).toMatchObject(refused(`text.${field}`))
    expect(await readFile(agentFile, 'utf8')).toBe(AGENT)

    expect((await save(agent, server.request)).status).toBe(200)
    const changed = JSON.stringify(agent)
    const path = `/admin/agent/versions/${digestOf(AGENT)}/restore`
    const restored = await request(path, { body: { basedOn: digestOf(changed) } })
    expect(await failureOf(restored)).toMatchObject(refused(`text.${field}`))
    expect(await readFile(agentFile, 'utf8')).toBe(changed)
  })

  it.each([
    ['mcp/thief/test', 'mcpServers'],
    ['skills/check', 'skills'],
    ['sandbox/verify', 'sandbox'],
  ])('does not try another part: %s', async (path, field) => {
    const body = { text: JSON.stringify(Object(PARTS.find(([name]) => name === field)?.[1])) }
    const failure = await failureOf(await request(`/admin/agent/${path}`, { body }))
    expect(failure).toMatchObject(refused())
  })

  it('changes and tries everything else', async () => {
    const { mcpServers } = JSON.parse(AGENT)
    const agent = { mcpServers, name: 'desk', prompt: 'Be brief.', links: 'known', limits: {} }
    expect((await save(agent)).status).toBe(200)
    const skills = { body: { text: JSON.stringify(agent) } }
    expect((await request('/admin/agent/skills/check', skills)).status).toBe(200)
    expect((await change({ set: { TOP_K: '8', OCR: 'off' }, clear: ['LOG_LEVEL'] })).status).toBe(
      200,
    )
  })

  it('replaces no agent that is invalid by one with such parts', async () => {
    await writeFile(agentFile, '{')
    const body = { text: JSON.stringify({ skills: { sources: [] } }), basedOn: digestOf('{') }
    const failure = await failureOf(await request('/admin/agent', { method: 'PUT', body }))
    expect(failure).toMatchObject(refused('text.skills'))
  })

  it('changes no setting that is a secret, or names what is opened or called', async () => {
    const free = new Set(
      `DATABASE_POOL BACKUP_BEFORE_UPGRADE SERVER_MODE FAILED_START UI FETCH_URLS LOG_LEVEL BODY_LIMIT
      FILE_LIMIT SHUTDOWN_GRACE CHAT_MODEL CHAT_API CHAT_REASONING_EFFORT CHAT_CONTEXT_TOKENS CHAT_IDLE_TIMEOUT CHAT_CONCURRENCY RUNS_KEPT TOP_K OCR
      OCR_LANGUAGES SEARCH_LANGUAGE INGEST_CONCURRENCY INGEST_QUEUE_LIMIT EMBEDDING_MODEL EMBEDDING_MODEL_NEXT
      RERANK_MODEL QDRANT_TIMEOUT QDRANT_SHARDS QDRANT_REPLICAS QDRANT_WRITE_CONSISTENCY QDRANT_QUANTIZATION
      QDRANT_VECTORS_MEMORY QDRANT_TERMS_MEMORY QDRANT_FILTERS_MEMORY CITATION_CHECK CHUNK_CONTEXT
      PICTURE_DESCRIPTIONS`.split(/\s+/),
    )
    for (const name of VARIABLE_NAMES) {
      const { status } = await failureOf(await change({ set: { [name]: '' } }))
      // A value that is refused for itself has passed.
      expect([name, status]).toEqual([name, free.has(name) ? 400 : 403])
    }
    for (const changes of [
      { clear: ['CHAT_BASE_URL'] },
      { move: { CHAT_API_KEY: 'CHAT_MODEL' } },
      { move: { TOP_K: 'AGENT_CONFIG' } },
      { set: { HTTPS_PROXY: 'http://thief.example' } },
    ])
      expect(await failureOf(await change(changes))).toMatchObject(refused())
    expect(await readFile(file, 'utf8')).toBe(ENVIRONMENT)
  })

  it.each([
    ['OCR', 'pp-ocr'],
    ['OCR_LANGUAGES', 'eng+tlh'],
  ])('saves no %s with which the server would not start again', async (name, value) => {
    const set = { TOP_K: '3', [name]: value }
    const failure = await failureOf(await change({ set }))
    expect(failure).toMatchObject({ status: 400, code: 'invalid_request' })
    expect(failure.message).toContain(name)
    expect(await readFile(file, 'utf8')).toBe(ENVIRONMENT)
    expect((await change({ set }, server.request)).status).toBe(200)
  })

  it.each(['test', 'list'])('sends no key of a model elsewhere: %s', async (what) => {
    const body = { kind: 'chat', set: { CHAT_BASE_URL: 'http://127.0.0.1:9', CHAT_MODEL: 'x' } }
    const failure = await failureOf(await request(`/admin/models/${what}`, { body }))
    expect(failure).toMatchObject(refused('CHAT_BASE_URL'))
  })

  it('does not see how the SERVER_API_KEY ends', async () => {
    const { settings } = Settings.parse(await (await request('/admin/settings')).json())
    const [master, chat] = ['SERVER_API_KEY', 'CHAT_API_KEY'].map((wanted) =>
      settings.find(({ name }) => name === wanted),
    )
    expect(master).not.toHaveProperty('ending')
    expect(chat).toMatchObject({ ending: '6789' })
  })

  it('does not stop the server, which would take no other key than the SERVER_API_KEY', async () => {
    const failure = await failureOf(await request('/admin/stop', { method: 'POST' }))
    expect(failure).toMatchObject({
      ...refused(),
      message: expect.stringMatching(/admin\/restart/),
    })
  })
})

describe('A plugin in another folder', () => {
  it('is refused, whoever names it', async () => {
    await mkdir(join(directory, 'plugins'), { recursive: true })
    for (const path of ['/proc/self/environ', './plugins/../a.mjs', './a.mjs', 'plugins/a.json']) {
      const failure = await failureOf(await save({ plugins: [path] }, server.request))
      expect(failure).toMatchObject({ status: 400, param: 'text.plugins.0' })
    }
  })
})
