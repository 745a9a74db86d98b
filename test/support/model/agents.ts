import { readFileSync } from 'node:fs'
import { ROOT } from '../source-tree.ts'

const schema = JSON.parse(readFileSync(new URL('agent.schema.json', ROOT), 'utf8'))
const TOOLS = Object.keys(schema.$defs.AgentConfiguration.properties.tools.properties)
/** An agent file that switches every tool off. */
export const NO_TOOLS = { tools: Object.fromEntries(TOOLS.map((name) => [name, false])) }
