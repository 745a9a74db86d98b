import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { loadPlugins } from '../../../src/agent/tools/plugins.ts'
import { temporaryDirectory } from '../../support/temporary-files.ts'
import { createContext } from './context-for-test.ts'

const { signal } = new AbortController()
const GOOD = `export default ({ defineTool, z }) => [
  defineTool({
    name: 'greet', title: 'Greet', description: 'Says hello',
    input: z.object({ who: z.string() }),
    run: async ({ who }) => 'Hello, ' + who,
  }),
]`

async function load(files: Record<string, string>, paths = Object.keys(files), directory?: string) {
  directory ??= await temporaryDirectory()
  for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text)
  const logged: object[] = []
  const log = { info: () => undefined, error: (fields: object) => void logged.push(fields) }
  const configuration = join(directory, 'agent.json')
  return { plugins: await loadPlugins({ paths, configuration, log }), logged }
}

describe('A plugin', () => {
  it('gives tools under its own name, checked against their schema', async () => {
    const { plugins } = await load({ 'Desk.mjs': GOOD })
    expect(plugins.records()).toEqual([{ name: 'desk', state: 'on' }])
    const [tool] = plugins.tools()
    expect(tool).toMatchObject({ name: 'desk__greet', title: 'Greet', source: 'plugin:desk' })
    expect(await tool?.run({ who: 'Ada' }, createContext(), signal)).toBe('Hello, Ada')
    await expect((async () => tool?.run({}, createContext(), signal))()).rejects.toThrow(/who/)
  })

  it('is imported again at each start', async () => {
    const directory = await temporaryDirectory()
    for (const name of ['greet', 'wave']) {
      const files = { 'desk.mjs': GOOD.replace("'greet'", `'${name}'`) }
      const { plugins } = await load(files, undefined, directory)
      expect(plugins.tools().map((tool) => tool.name)).toEqual([`desk__${name}`])
    }
  })

  it('may export its tools without a function', async () => {
    const text = `export default [{
      name: 'now', description: 'The time', inputSchema: { type: 'object' }, run: async () => 12,
    }]`
    const { plugins } = await load({ 'clock.mjs': text })
    const [tool] = plugins.tools()
    expect(tool).toMatchObject({ name: 'clock__now', title: 'now' })
    expect(await tool?.run({}, createContext(), signal)).toBe('12')
  })

  it.each([
    ['is not there', {}, /Cannot find module/],
    ['is no module', { 'x.mjs': 'export default {' }, /^Its code has a mistake; .*node x\.mjs$/],
    ['throws', { 'x.mjs': `throw new Error('No key')` }, /^No key$/],
    ['exports nothing', { 'x.mjs': 'export const a = 1' }, /default export/],
    ['exports no tools', { 'x.mjs': 'export default []' }, /default export/],
    ['exports something else', { 'x.mjs': `export default ['tool']` }, /made with defineTool/],
    [
      'has a tool of a bad name',
      { 'x.mjs': GOOD.replace(`'greet'`, `'a b'`) },
      /made with defineTool/,
    ],
  ])('that %s is told of, and the others are loaded', async (_case, files, reason) => {
    const paths = ['x.mjs', 'desk.mjs']
    const { plugins, logged } = await load({ 'desk.mjs': GOOD, ...files }, paths)
    expect(plugins.records()).toEqual([
      { name: 'x', state: 'unavailable', reason: expect.stringMatching(reason) },
      { name: 'desk', state: 'on' },
    ])
    expect(plugins.tools()).toHaveLength(1)
    expect(logged).toMatchObject([{ plugin: 'x' }])
  })

  it('with the name of another one is not loaded', async () => {
    const { plugins } = await load({ 'desk.mjs': GOOD }, ['desk.mjs', './desk.mjs'])
    expect(plugins.tools()).toHaveLength(1)
    expect(plugins.records().at(-1)?.state).toBe('unavailable')
  })

  it.each(['x.mjs', 'x.ts'])('%s with a mistake is not quoted anywhere', async (name) => {
    const { plugins, logged } = await load({ [name]: 'PASSWORD=quagga\nTOKEN quagga' })
    expect(plugins.records()).toMatchObject([{ state: 'unavailable' }])
    const told = [...plugins.records(), ...logged].map((each) => inspect(each, { depth: 9 }))
    expect(told.join()).not.toMatch(/quagga|TOKEN/)
  })
})
