import { describe, expect, it } from 'vitest'
import { createBuiltInTools } from '../../src/compose/agent.ts'
import { SandboxLimits } from '../../src/schemas/sandbox.ts'
import { AgentConfiguration } from '../../src/services/agent/configuration.ts'
import { createScriptedModel } from '../services/agent/scripted-model.ts'
import { createMemoryArtifactStore } from '../services/tools/memory-artifact-store.ts'
import { createSqliteData } from '../stores/sqlite/store-data.ts'

/** A sandbox in which nothing is run. */
const UNUSED = {
  limits: SandboxLimits.parse({}),
  unavailable: () => undefined,
  record: async () => ({ kind: 'none' as const, state: 'off' as const }),
  run: () => Promise.reject(new Error('Nothing is run here')),
}

/** The names of the tools that are on, with these switches in the agent configuration. */
async function namesWith(tools: object): Promise<string[]> {
  const data = await createSqliteData()
  const store = await data.open()
  try {
    const builtIn = createBuiltInTools({
      config: { DATA_DIR: data.directory, TOP_K: 5 },
      model: createScriptedModel([]),
      isStopWord: () => false,
      switches: AgentConfiguration.parse({ tools }).tools,
      retrieval: { search: async () => ({ hits: [], degraded: false }) },
      ...{ store, lookup: store.lookup, artifacts: createMemoryArtifactStore(), sandbox: UNUSED },
    })
    builtIn.close()
    return builtIn.tools.map(({ name }) => name).filter(builtIn.isEnabled)
  } finally {
    await store.close()
    await data.remove()
  }
}

describe('The built-in tools', () => {
  it('are all on, unless something is switched off', async () => {
    const names = await namesWith({})
    expect(names).toEqual(expect.arrayContaining(['semantic_search', 'query_table', 'make_chart']))
    expect(new Set(names).size).toBe(names.length)
  })

  it.each([
    ['semantic_search', ['semantic_search', 'read_document']],
    ['run_python', ['run_python']],
    ['tabular_data', ['list_tables', 'describe_table', 'query_table']],
    ['chart_generation', ['make_chart']],
    ['data_lookup', ['lookup_data']],
    ['corpus_analysis', ['analyse_corpus']],
    ['form_filling', ['fill_form']],
  ])('that %s switches off are %j', async (name, off) => {
    const all = await namesWith({})
    expect(await namesWith({ [name]: false })).toEqual(all.filter((tool) => !off.includes(tool)))
  })
})
