import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { presentVariables } from '@agent-server/lib/former-names.ts'
import { Settings } from '@agent-server/schemas/operator/admin.ts'
import { pino } from 'pino'
import { expect, it, onTestFinished } from 'vitest'
import { createSqliteBackup } from '../packages/stores/src/sqlite/backup.ts'
import { openDirectory } from '../packages/stores/test/sqlite/store-data.ts'
import { FORMER_FIELDS, readConfiguration } from '../src/agent/configuration.ts'
import { runRestore } from '../src/commands/backup.ts'
import { loadConfig, noticesOf, settingsFrom, VARIABLE_NAMES } from '../src/config.ts'
import { writeBackupFile } from '../src/documents/transfer/backup-file.ts'
import { secretsInLog } from '../src/secrets-in-log.ts'
import { FORMER_VARIABLES } from '../src/variables.ts'
import { startServer, TEST_KEY } from './support/server.ts'
import { temporaryDirectory } from './support/temporary-files.ts'

/** Made up: no release has renamed anything yet. */
const VARIABLES = { HITS: 'TOP_K', LANGUAGE_OF_SEARCH: 'SEARCH_LANGUAGE' }
const SECRET = { MODEL_ACCESS: 'CHAT_API_KEY', HOOK: 'WEBHOOK_URL' }
const FIELDS = {
  instructions: 'prompt',
  'limits.modelCalls': 'rounds',
  'agents.*.limits.modelCalls': 'rounds',
}

/** Until the test has ended. */
function rename(names: Readonly<Record<string, string>>) {
  Object.assign(FORMER_VARIABLES, names)
  onTestFinished(() => {
    for (const name of Object.keys(names)) Reflect.deleteProperty(FORMER_VARIABLES, name)
  })
}

it('Every name that replaced another one is a setting', () => {
  for (const [former, present] of Object.entries(FORMER_VARIABLES)) {
    expect(VARIABLE_NAMES).toContain(present)
    expect(VARIABLE_NAMES).not.toContain(former)
  }
})

it('A setting under its former name keeps working, unless it is set under its present one', () => {
  const environment = { HITS: '7', SEARCH_LANGUAGE: 'german', LANGUAGE_OF_SEARCH: 'english' }
  expect(presentVariables(environment, VARIABLES)).toEqual({ TOP_K: '7' })
  expect(presentVariables({ HITS: '' }, VARIABLES)).toEqual({})
  const given = { SERVER_API_KEY: TEST_KEY, CHAT_MODEL: 'extractive', ...environment }
  expect(loadConfig({ ...given, ...presentVariables(given, VARIABLES) })).toMatchObject({
    TOP_K: 7,
    SEARCH_LANGUAGE: 'german',
  })
})

it('A given setting wins over the file, whichever of its names either has, unless it is empty', () => {
  rename(VARIABLES)
  expect(settingsFrom({ HITS: '7' }, { TOP_K: '9' })).toEqual({ HITS: '7', TOP_K: '7' })
  expect(settingsFrom({ TOP_K: '7' }, { HITS: '9' })).toEqual({ HITS: '9', TOP_K: '7' })
  expect(settingsFrom({ HITS: '7' }, { HITS: '9' })).toEqual({ HITS: '7', TOP_K: '7' })
  expect(settingsFrom({ HITS: '' }, { HITS: '9' })).toEqual({ HITS: '9', TOP_K: '9' })
  expect(settingsFrom({ TOP_K: '' }, { HITS: '9' })).toEqual({ HITS: '9', TOP_K: '9' })
  expect(settingsFrom({ HITS: '', TOP_K: '' }, { TOP_K: '' })).toEqual({})
  // What is no setting stays as it is.
  expect(settingsFrom({ NO_COLOR: '' }, { NO_COLOR: '1' })).toEqual({ NO_COLOR: '' })
  // Once more changes nothing, as before a restart.
  const given = settingsFrom({ HITS: '7', LANGUAGE_OF_SEARCH: '' })
  expect(settingsFrom(given, { TOP_K: '9' })).toEqual({ HITS: '7', TOP_K: '7' })
  expect(noticesOf(given)).toEqual([expect.stringMatching(/^HITS is called TOP_K now/)])
})

it('No log shows a secret that is set under a former name', () => {
  rename(SECRET)
  const environment = settingsFrom(
    { CHAT_API_KEY: 'sk-present-1234', WEBHOOK_URL: 'https://hooks.example/present' },
    { MODEL_ACCESS: 'sk-former-1234', HOOK: 'https://hooks.example/former' },
  )
  expect(secretsInLog(environment)).toEqual(
    expect.arrayContaining(['sk-present-1234', 'sk-former-1234', 'https://hooks.example/former']),
  )
})

it('A restore asks for settings and secrets by their present names, but for those of the agent', async () => {
  rename({ ...VARIABLES, ...SECRET, RANK_CREDENTIALS: 'RERANK_API_KEY' })
  const directory = await temporaryDirectory()
  const { signal } = new AbortController()
  const from = join(directory, 'from')
  await (await openDirectory(from)).close()
  const headers = { authorization: '$' + '{RANK_CREDENTIALS}' }
  const agent = { mcpServers: { tools: { url: 'https://tools.example/mcp', headers } } }
  const surroundings = {
    program: '0.1.0',
    settings: { HITS: '7' },
    secrets: ['MODEL_ACCESS', 'RANK_CREDENTIALS'],
    files: { 'agent.json': JSON.stringify(agent) },
  }
  const file = join(directory, 'backup.zst')
  const records = createSqliteBackup({ directory: from, derived: [] }).read(signal)
  await writeBackupFile(file, surroundings, records, signal)
  const said: string[] = []
  const environment = {
    DATA_DIR: join(directory, 'to'),
    AGENT_CONFIG: join(directory, 'agent.json'),
  }
  const code = await runRestore({
    parameters: [file],
    environment: { SERVER_API_KEY: TEST_KEY, CHAT_MODEL: 'extractive', ...environment },
    config: () => loadConfig(environment),
    createLog: () => pino({ level: 'silent' }),
    stderr: { write: (text) => void said.push(text) },
    signal,
  })
  expect(code).toBe(0)
  expect(said.join('')).toMatch(/^Copy from .*: TOP_K$/m)
  expect(said.join('')).toMatch(/^Set these .*: CHAT_API_KEY, RANK_CREDENTIALS$/m)
})

it('A field of agent.json under its former name keeps working, in each agent, and is told', () => {
  const agent = {
    instructions: 'Be brief.',
    limits: { modelCalls: 3 },
    agents: { desk: { limits: { modelCalls: 4, rounds: 5 } }, owl: { prompt: 'Be kind.' } },
  }
  const { configuration, mistakes, former } = readConfiguration(JSON.stringify(agent), FIELDS)
  expect(mistakes).toEqual([])
  expect(former).toEqual(Object.keys(FIELDS))
  expect(configuration).toMatchObject({
    prompt: 'Be brief.',
    limits: { rounds: 3 },
    agents: { desk: { limits: { rounds: 5 } }, owl: { prompt: 'Be kind.' } },
  })
  expect(readConfiguration('{"prompt":"Be kind."}', FIELDS).former).toEqual([])
  const unknown = readConfiguration('{"instructions":"Be brief."}', FORMER_FIELDS)
  expect(unknown.mistakes).toHaveLength(1)
})

it('The page of settings shows what is set under a former name, and puts the present name in its place', async () => {
  rename(VARIABLES)
  const directory = await temporaryDirectory()
  const file = join(directory, '.env')
  await writeFile(file, 'HITS=7\nLANGUAGE_OF_SEARCH=german\n')
  const given = { SERVER_API_KEY: TEST_KEY, CHAT_MODEL: 'extractive', DATA_DIR: directory }
  const { request } = await startServer({ DATA_DIR: directory }, { given })
  const read = async () => Settings.parse(await (await request('/admin/settings')).json())
  const before = await read()
  const shownAs = ({ settings }: Settings, name: string) =>
    settings.find((setting) => setting.name === name)?.value
  expect(shownAs(before, 'TOP_K')).toBe('7')
  const body = { basedOn: before.digest, set: { TOP_K: '9' }, clear: ['SEARCH_LANGUAGE'] }
  expect((await request('/admin/settings', { method: 'PATCH', body })).status).toBe(200)
  const after = await read()
  expect(shownAs(after, 'TOP_K')).toBe('9')
  expect(shownAs(after, 'SEARCH_LANGUAGE')).toBe('english')
  expect(await readFile(file, 'utf8')).not.toMatch(/^(?:HITS|LANGUAGE_OF_SEARCH)=/m)
})
