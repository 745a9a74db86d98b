import { AgentRecord, Capabilities, ToolList } from '@agent-server/schemas/agent.ts'
import { MASTER } from '@agent-server/schemas/operator/api-key.ts'
import { describe, expect, it } from 'vitest'
import { AgentConfiguration } from '../../src/agent/configuration.ts'
import { describeAgent } from '../../src/agent/describe-agent.ts'
import { ToolRegistry } from '../../src/agent/tools/registry.ts'
import { toolAnswering } from './run/agent-for-test.ts'

function describeTest({
  enabled = true,
  supportsTools = true,
  changed = false,
  roomForTools = 1_000,
} = {}) {
  const agent: ReturnType<Parameters<typeof describeAgent>[0]['current']> = {
    configuration: AgentConfiguration.parse({ name: 'desk', description: 'Knows the library.' }),
    prompt: { prompt: '' },
    mcp: { records: async () => [] },
    skills: { records: () => [] },
    plugins: { records: () => [{ name: 'desk', state: 'on' }] },
    named: new Map(),
    sandbox: { record: async () => ({ kind: 'none', state: 'off' }) },
    tools: new ToolRegistry({
      sources: [() => [toolAnswering('look', 'seen')]],
      isEnabled: () => enabled,
      log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    }),
  }
  return describeAgent({
    current: () => agent,
    isFileChanged: async () => changed,
    model: { name: 'gpt-6.1-terra', supportsTools, supportsImages: false },
    window: { size: () => 4_096 },
    roomForTools: () => roomForTools,
  })
}

describe('the agent', () => {
  it('is its name, its profile and its loaded tools', () => {
    const agent = describeTest().agent(MASTER)
    expect(AgentRecord.parse(agent)).toEqual(agent)
    expect(agent).toEqual({
      name: 'desk',
      profile: {
        description: 'Knows the library.',
        model: 'gpt-6.1-terra',
        retrieval: 'lexical',
        images: false,
      },
      tools: [{ name: 'look', source: 'builtin' }],
    })
  })

  it.each([
    ['is switched off', { enabled: false }],
    ['cannot be called by the model', { supportsTools: false }],
  ])('does not show a tool that %s', (_case, options) => {
    expect(describeTest(options).agent(MASTER).tools).toEqual([])
  })
})

describe('the list of tools', () => {
  it.each([
    ['on', {}, undefined],
    ['off', { enabled: false }, undefined],
    ['off', { enabled: false, supportsTools: false }, undefined],
    ['unavailable', { supportsTools: false }, 'The chat model does not call tools'],
  ])('has each with its state: %s', (state, options, reason) => {
    const list = describeTest(options).tools()
    expect(ToolList.parse(list)).toEqual(list)
    expect(list.tools).toEqual([
      {
        name: 'look',
        title: 'look',
        description: 'Answers look',
        inputSchema: expect.objectContaining({ type: 'object' }),
        source: 'builtin',
        state,
        ...(reason && { reason }),
      },
    ])
  })
})

describe('the capabilities', () => {
  it.each([true, false])('say whether a restart is needed: %s', async (changed) => {
    const capabilities = await describeTest({ changed }).capabilities()
    expect(Capabilities.parse(capabilities)).toEqual(capabilities)
    expect(capabilities.restartRequired).toBe(changed)
  })

  it.each([true, false])('say whether the model calls tools: %s', async (supportsTools) => {
    expect((await describeTest({ supportsTools }).capabilities()).chat).toEqual({
      model: 'gpt-6.1-terra',
      tools: supportsTools,
      images: false,
      window: 4_096,
    })
  })

  it('name the tools that do not fit the window', async () => {
    const { chat } = await describeTest({ roomForTools: 10 }).capabilities()
    expect(chat).toMatchObject({ window: 4_096, leftOut: ['look'] })
    const without = await describeTest({ roomForTools: 10, supportsTools: false }).capabilities()
    expect(without.chat).not.toHaveProperty('leftOut')
  })

  it('claim only features of this version', async () => {
    expect(await describeTest().capabilities()).toMatchObject({
      skills: [],
      mcp: [],
      plugins: [{ name: 'desk', state: 'on' }],
      sandbox: { kind: 'none', state: 'off' },
      retrieval: 'lexical',
      embedder: { state: 'off' },
    })
  })
})
