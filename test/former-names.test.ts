import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { presentVariables } from '@agent-server/lib/former-names.ts'
import { Settings } from '@agent-server/schemas/operator/admin.ts'
import { expect, it, onTestFinished } from 'vitest'
import { FORMER_FIELDS, readConfiguration } from '../src/agent/configuration.ts'
import { loadConfig, VARIABLE_NAMES } from '../src/config.ts'
import { FORMER_VARIABLES } from '../src/variables.ts'
import { startServer, TEST_KEY } from './support/server.ts'
import { temporaryDirectory } from './support/temporary-files.ts'

/** Made up: no release has renamed anything yet. */
const VARIABLES = { HITS: 'TOP_K', LANGUAGE_OF_SEARCH: 'SEARCH_LANGUAGE' }
const FIELDS = {
  instructions: 'prompt',
  'limits.modelCalls': 'rounds',
  'agents.*.limits.modelCalls': 'rounds',
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
  Object.assign(FORMER_VARIABLES, VARIABLES)
  onTestFinished(() => {
    for (const name of Object.keys(VARIABLES)) Reflect.deleteProperty(FORMER_VARIABLES, name)
  })
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
