import { hash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { Settings, SettingsSaved } from '@agent-server/schemas/operator/admin.ts'
import { beforeEach, describe, expect, it } from 'vitest'
import { VARIABLE_NAMES } from '../../src/config.ts'
import { verifies } from '../requirements.ts'
import { failureOf } from '../support/failure.ts'
import { startServer, TEST_KEY } from '../support/server.ts'
import { temporaryDirectory } from '../support/temporary-files.ts'

const SECRET = 'sk-secret-of-the-model-abcd'
const AT_START = `# Mine.
TOP_K=7
#CHAT_BASE_URL=https://api.openai.com/v1
CHAT_API_KEY=${SECRET}
# Of several lines, and nobody's business here.
OTHER="one
TOP_K=9
two"
EMBEDDING_API_KEY=short
`

const directory = await temporaryDirectory()
const file = join(directory, '.env')
const variables = { DATA_DIR: directory, CORS_ORIGIN: 'https://example.org' }
const given = { SERVER_API_KEY: TEST_KEY, CHAT_MODEL: 'extractive', ...variables }
const server = await startServer(variables, { given })

beforeEach(() => writeFile(file, AT_START))

const readText = async () => (await server.request('/admin/settings')).text()
const read = async () => Settings.parse(JSON.parse(await readText()))
const find = ({ settings }: Settings, name: string) => settings.find((one) => one.name === name)
const patch = (changes: object, basedOn = hash('sha256', AT_START)) =>
  server.request('/admin/settings', { method: 'PATCH', body: { basedOn, ...changes } })
const save = async (changes: object) => {
  const response = await patch(changes)
  expect(response.status).toBe(200)
  return SettingsSaved.parse(await response.json())
}

describe('GET /admin/settings', verifies('admin.settings.read', 'admin.settings.secrets'), () => {
  it('tells of every variable what it is', async () => {
    const { settings, mistakes } = await read()
    expect(settings.map(({ name }) => name)).toEqual(VARIABLE_NAMES)
    expect(settings.filter(({ group, meaning }) => !group || !meaning)).toEqual([])
    expect(mistakes).toEqual([])
  })

  it('tells where each value comes from', async () => {
    const settings = await read()
    expect(find(settings, 'TOP_K')).toMatchObject({
      source: 'file',
      value: '7',
      default: '5',
      restartRequired: true,
      meaning: 'Passages that a chat retrieves, unless the request says how many.',
    })
    expect(find(settings, 'CORS_ORIGIN')).toMatchObject({
      source: 'environment',
      value: 'https://example.org',
      restartRequired: false,
    })
    expect(find(settings, 'CHAT_BASE_URL')).toMatchObject({
      source: 'default',
      value: 'https://api.openai.com/v1',
      restartRequired: false,
    })
  })

  it('tells of secrets no more than their end', async () => {
    const webhook = `WEBHOOK_URL=https://hooks.example/in\nWEBHOOK_SECRET=whsec_${'c2Vj'.repeat(8)}\n`
    const urls = `QDRANT_URL=http://me:hidden@q\n${webhook}`
    await writeFile(file, `${AT_START}${urls}SEARCH_LANGUAGE=klingon\n`)
    const text = await readText()
    for (const secret of [SECRET, 'short', 'hidden', 'hooks.example'])
      expect(text).not.toContain(secret)
    const settings = Settings.parse(JSON.parse(text))
    const key = find(settings, 'CHAT_API_KEY')
    expect(key).toMatchObject({ secret: true, source: 'file', ending: 'abcd' })
    expect(key).not.toHaveProperty('value')
    expect(find(settings, 'EMBEDDING_API_KEY')).not.toHaveProperty('ending')
    expect(settings.mistakes.map(({ field }) => field)).toEqual(['SEARCH_LANGUAGE'])
  })
})

describe('PATCH /admin/settings', verifies('admin.settings.save', 'admin.settings.secrets'), () => {
  it('replaces, clears and leaves alone, in the place where each variable stands', async () => {
    const saved = await save({
      set: { CHAT_BASE_URL: 'http://localhost:11434/v1', EMBEDDING_MODEL: "it's a `model`" },
      clear: ['EMBEDDING_API_KEY'],
    })
    expect(await readFile(file, 'utf8')).toBe(
      `${AT_START.replace('#CHAT_BASE_URL=https://api.openai.com/v1', 'CHAT_BASE_URL=http://localhost:11434/v1').replace('EMBEDDING_API_KEY=short', '#EMBEDDING_API_KEY=')}EMBEDDING_MODEL="it's a \`model\`"\n`,
    )
    expect(saved.changed.toSorted()).toEqual([
      'CHAT_BASE_URL',
      'EMBEDDING_API_KEY',
      'EMBEDDING_MODEL',
    ])
    expect(find(saved.settings, 'CHAT_BASE_URL')).toMatchObject({ restartRequired: true })
    expect(find(saved.settings, 'CHAT_API_KEY')).toMatchObject({ ending: 'abcd' })
  })

  it('clears a key without leaving it in a comment', async () => {
    await save({ clear: ['CHAT_API_KEY'] })
    const text = await readFile(file, 'utf8')
    expect(text).not.toContain(SECRET)
    expect(text).toContain('\n#CHAT_API_KEY=\n')
  })

  // biome-ignore lint/suspicious/noTemplateCurlyInString: as somebody may write it
  it.each(["a'b", 'a"b', 'a b # c', '${HOME}', 'back\\nslash', ' padded ', '#', '日本'])(
    'writes %s so that a start reads the same',
    async (value) => {
      await save({ set: { EMBEDDING_MODEL: value } })
      expect(parseEnv(await readFile(file, 'utf8')).EMBEDDING_MODEL).toBe(value)
      expect(parseEnv(await readFile(file, 'utf8')).OTHER).toBe('one\nTOP_K=9\ntwo')
    },
  )

  it.each<[string, object, string, RegExp]>([
    ['of the environment', { set: { CORS_ORIGIN: '*' } }, 'set.CORS_ORIGIN', /environment/],
    ['of the environment', { clear: ['CORS_ORIGIN'] }, 'clear.0', /environment/],
    ['that is none', { set: { PATH: 'x' } }, 'set.PATH', /not a variable/],
    ['that is wrong', { set: { INGEST_CONCURRENCY: '0' } }, 'set.INGEST_CONCURRENCY', /at least 1/],
    ['set and cleared', { set: { UI: 'on' }, clear: ['UI'] }, 'clear.0', /also/],
    ['that is empty', { set: { UI: '' } }, 'set.UI', /clear/],
    ['of two lines', { set: { CHAT_MODEL: 'a\nPATH=b' } }, 'set.CHAT_MODEL', /./],
    ['that needs another', { set: { DATABASE_URL: 'postgres://h/d' } }, 'QDRANT_URL', /required/],
    ['within a value', { set: { TOP_K: '3' } }, 'set.TOP_K', /by hand/],
    ['with every quote', { set: { EMBEDDING_MODEL: '\'"` ' } }, 'set.EMBEDDING_MODEL', /by hand/],
  ])('refuses a variable %s, and writes nothing', async (_case, changes, param, message) => {
    const failure = await failureOf(await patch({ ...changes, ...mixedIn(changes) }))
    expect(failure).toMatchObject({ status: 400, code: 'invalid_request', param })
    expect(failure.message).toMatch(message)
    expect(await readFile(file, 'utf8')).toBe(AT_START)
  })

  it('refuses a write based on an outdated state', async () => {
    await writeFile(file, `${AT_START}# By hand.\n`)
    expect(await failureOf(await patch({ set: { TOP_K: '3' } }))).toMatchObject({
      status: 409,
      code: 'edit_conflict',
    })
  })
})

/** Something right beside what is wrong. */
function mixedIn(changes: { set?: object }) {
  return { set: { INGEST_QUEUE_LIMIT: '5', ...changes.set } }
}

describe('A value that is moved', () => {
  it(
    'takes the place of another one without being sent',
    verifies('admin.settings.save'),
    async () => {
      const text = `${AT_START}EMBEDDING_MODEL_NEXT=next\nEMBEDDING_API_KEY_NEXT=${SECRET}\n`
      await writeFile(file, text)
      const move = {
        EMBEDDING_MODEL_NEXT: 'EMBEDDING_MODEL',
        EMBEDDING_API_KEY_NEXT: 'EMBEDDING_API_KEY',
      }
      expect((await patch({ move }, hash('sha256', text))).status).toBe(200)
      const kept = parseEnv(await readFile(file, 'utf8'))
      expect(kept).toMatchObject({ EMBEDDING_MODEL: 'next', EMBEDDING_API_KEY: SECRET })
      expect(Object.keys(kept).filter((name) => name.endsWith('_NEXT'))).toEqual([])
    },
  )

  it('must be there', async () => {
    const move = { EMBEDDING_MODEL_NEXT: 'EMBEDDING_MODEL' }
    expect(await failureOf(await patch({ move }))).toMatchObject({
      status: 400,
      param: 'move.EMBEDDING_MODEL_NEXT',
    })
  })
})

describe('A variable that the agent configuration refers to', () => {
  const TOKEN = 'token-of-the-weather-service'

  it(
    'is set and cleared like any other, and never sent back',
    verifies('admin.settings.read', 'admin.settings.save'),
    async () => {
      expect(find(await read(), 'weather_token')).toBeUndefined()
      const headers = { Authorization: `Bearer \${weather_token}`, 'X-Key': `\${TOP_K}` }
      const odd = { url: 'https://odd.example/mcp', headers: { 'X-A': `\${NODE_OPTIONS}` } }
      const mcpServers = { weather: { url: 'https://weather.example/mcp', headers }, odd }
      await writeFile(join(file, '../agent.json'), JSON.stringify({ mcpServers }))
      expect(find(await read(), 'weather_token')).toMatchObject({
        secret: true,
        source: 'default',
        restartRequired: false,
        group: 'Agent configuration',
      })
      expect(find(await read(), 'TOP_K')).toMatchObject({ value: '7', secret: false })

      const saved = await save({ set: { weather_token: TOKEN } })
      expect(saved.changed).toEqual(['weather_token'])
      expect(parseEnv(await readFile(file, 'utf8'))).toMatchObject({ weather_token: TOKEN })
      expect(await readText()).not.toContain(TOKEN)
      expect(find(await read(), 'weather_token')).toMatchObject({
        source: 'file',
        ending: 'vice',
        restartRequired: true,
      })
      const cleared = { basedOn: saved.settings.digest, clear: ['weather_token'] }
      expect((await patch(cleared, saved.settings.digest)).status).toBe(200)
      expect(parseEnv(await readFile(file, 'utf8'))).not.toHaveProperty('weather_token')
    },
  )

  it('is not one that the system reads, nor one that it does not refer to', async () => {
    for (const name of ['NODE_OPTIONS', 'LD_PRELOAD', 'OTHER_TOKEN']) {
      expect(await failureOf(await patch({ set: { [name]: 'x' } }))).toMatchObject({
        status: 400,
        param: `set.${name}`,
      })
    }
  })
})
