import { join } from 'node:path'
import { SandboxLimits } from '@agent-server/sandboxes'
import { createTables } from '@agent-server/tables'
import { describe, expect, it } from 'vitest'
import { createSqliteData } from '../../../packages/stores/test/sqlite/store-data.ts'
import { AgentConfiguration } from '../../../src/agent/configuration.ts'
import { createBuiltInTools, SWITCH_NAMES } from '../../../src/agent/tools/catalogue.ts'
import type { Tool } from '../../../src/agent/tools/define-tool.ts'
import { toModelTool, toolTokens } from '../../../src/agent/tools/discover-tools.ts'
import { documentsWithTables } from '../../../src/agent/tools/document-tables.ts'
import { long, someOf } from '../../support/long.ts'
import { createScriptedModel } from '../run/scripted-model.ts'
import { createMemoryArtifactStore } from './memory-artifact-store.ts'

/** A sandbox in which nothing is run. */
const UNUSED = {
  limits: SandboxLimits.parse({}),
  unavailable: () => undefined,
  record: async () => ({ kind: 'none' as const, state: 'off' as const }),
  run: () => Promise.reject(new Error('Nothing is run here')),
}

/** The tools that are on, with these switches in the agent configuration. */
async function toolsWith(tools: object): Promise<Tool[]> {
  const data = await createSqliteData()
  const store = await data.open()
  try {
    const directory = join(data.directory, 'tables')
    const tables = createTables({
      directory,
      documents: documentsWithTables({ store, lookup: store.lookup }),
    })
    const services = {
      config: { TOP_K: 5 },
      model: createScriptedModel([]),
      isStopWord: () => false,
      retrieval: { search: async () => ({ hits: [], corrections: [], degraded: false }) },
      store,
      artifacts: createMemoryArtifactStore(),
      sandbox: UNUSED,
      tables,
    }
    const builtIn = createBuiltInTools(services, AgentConfiguration.parse({ tools }).tools)
    tables.close()
    return builtIn.tools.filter(({ name }) => builtIn.isEnabled(name))
  } finally {
    await store.close()
    await data.remove()
  }
}

const namesWith = async (tools: object) => (await toolsWith(tools)).map(({ name }) => name)

describe('The built-in tools', () => {
  it('take at most 1,450 tokens of a request', async () => {
    const tools = (await toolsWith({})).map(toModelTool)
    expect(toolTokens(tools)).toBeLessThanOrEqual(1_450)
  })

  it('are sent without what only validates, such as patterns and lengths', async () => {
    const keywords = JSON.stringify((await toolsWith({})).map(toModelTool))
    expect(keywords).not.toMatch(/"(?:pattern|maxLength|minLength|additionalProperties|default)":/)
  })

  it('are all on, unless something is switched off', async () => {
    const names = await namesWith({})
    expect(names).toEqual(expect.arrayContaining(['semantic_search', 'query_table', 'make_chart']))
    expect(new Set(names).size).toBe(names.length)
  })

  it.each(someOf(SWITCH_NAMES, 2))(
    'are off with their switch %s, and no others',
    long,
    async (name) => {
      const all = await toolsWith({})
      const others = all.filter((tool) => tool.switch !== name).map((tool) => tool.name)
      expect(others.length).toBeLessThan(all.length)
      expect(await namesWith({ [name]: false })).toEqual(others)
    },
  )
})
