import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { agentReference, agentSchema, EXAMPLES } from '../../scripts/agent-reference.ts'
import { AgentConfiguration } from '../../src/agent/configuration.ts'
import { ROOT } from '../support/source-tree.ts'

const read = (path: string) => readFileSync(fileURLToPath(new URL(path, ROOT)), 'utf8')

describe('The reference of agent.json', () => {
  it('is what `npm run agent:reference` makes', () => {
    expect(read('docs/reference/agent-configuration.md')).toBe(agentReference())
    expect(read('agent.schema.json')).toBe(agentSchema())
  })

  it('names every field', () => {
    for (const name of Object.keys(AgentConfiguration.shape)) {
      if (name !== '$schema') expect(agentReference()).toContain(`\n| \`${name}\` |`)
    }
  })

  it.each(Object.entries(EXAMPLES))('has a valid example for %s', (_area, example) => {
    expect(AgentConfiguration.safeParse(example).error).toBeUndefined()
  })
})
