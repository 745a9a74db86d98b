import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { agentReference, agentSchema } from './agent-schema.ts'

// `npm run agent:reference`: what there is to set in agent.json, for readers and for editors.
const root = resolve(import.meta.dirname, '..')
await writeFile(resolve(root, 'agent.schema.json'), agentSchema())
await writeFile(resolve(root, 'docs/agent-configuration.md'), agentReference())
