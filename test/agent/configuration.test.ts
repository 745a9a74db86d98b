import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { loadConfiguration } from '../../src/agent/configuration.ts'

async function newPath(text?: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'agent-server-agent-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  const path = join(directory, 'agent.json')
  if (text !== undefined) await writeFile(path, text)
  return path
}

const DEFAULT = {
  name: 'agent',
  description: 'Answers questions from the ingested documents.',
  prompt: '',
  tools: {
    semantic_search: true,
    tabular_data: true,
    chart_generation: true,
    data_lookup: true,
    corpus_analysis: true,
  },
  mcpServers: {},
  skills: { sources: ['skills'], disabled: [] },
  limits: { rounds: 8, toolCalls: 64, seconds: 300, tokens: 1_000_000 },
}

describe('the agent configuration', () => {
  it.each([
    ['without a file', undefined, DEFAULT],
    ['with an empty object', '{}', DEFAULT],
    [
      'with a schema for editors',
      '{"$schema":"./agent.schema.json"}',
      { ...DEFAULT, $schema: './agent.schema.json' },
    ],
    ['with a name', '{"name":"Library desk"}', { ...DEFAULT, name: 'Library desk' }],
    ['with a prompt', '{"prompt":"Be kind."}', { ...DEFAULT, prompt: 'Be kind.' }],
    [
      'with a tool switched off',
      '{"tools":{"semantic_search":false}}',
      { ...DEFAULT, tools: { semantic_search: false } },
    ],
    ['with no word of its tools', '{"tools":{}}', DEFAULT],
    [
      'with a byte order mark, as some editors write it',
      '\ufeff{"name":"a"}',
      { ...DEFAULT, name: 'a' },
    ],
  ])('is read %s', async (_case, text, configuration) => {
    expect((await loadConfiguration(await newPath(text))).configuration).toMatchObject(
      configuration,
    )
  })

  it('is refused with every mistake at once, and the path of the file', async () => {
    const path = await newPath(
      JSON.stringify({
        name: ' ',
        prompt: 5,
        tools: { semantic_search: 'yes', telepathy: true },
        limits: { rounds: 0, seconds: 1e9 },
        modle: 'x',
      }),
    )
    const message = await loadConfiguration(path).catch(({ message: text }: Error) => text)
    expect(message).toContain(`${path} is not a valid agent configuration`)
    for (const mistake of [
      'name',
      'prompt',
      'tools.semantic_search',
      'telepathy',
      'rounds',
      'seconds',
      'modle',
    ]) {
      expect(message).toContain(mistake)
    }
  })

  it.each([
    ['broken', '{\n"name":', 'line 2, column 8'],
    ['empty', '', 'line 1, column 1'],
    ['not JSON', 'name: agent', 'line 1, column 2'],
  ])('is refused when the file is %s, and says where', async (_case, text, place) => {
    const path = await newPath(text)
    await expect(loadConfiguration(path)).rejects.toThrow(
      `${path} is not a valid agent configuration:\n  is not valid JSON at ${place}: `,
    )
  })

  it.each(['', ' ', ' agent', 'agent ', 'n'.repeat(101)])(
    'is refused with the name %j',
    async (name) => {
      await expect(loadConfiguration(await newPath(JSON.stringify({ name })))).rejects.toThrow(
        'name',
      )
    },
  )

  it('is refused where the path is a folder', async () => {
    const path = await newPath()
    await mkdir(path)
    await expect(loadConfiguration(path)).rejects.toThrow('EISDIR')
  })
})
