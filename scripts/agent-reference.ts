import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { z } from 'zod'
import { AgentConfiguration } from '../src/agent/configuration.ts'

interface Field {
  description?: string
  type?: string
  default?: unknown
  enum?: unknown[]
  const?: unknown
  minimum?: number
  maximum?: number
  maxLength?: number
  maxItems?: number
  properties?: Record<string, Field>
  additionalProperties?: Field | boolean
  items?: Field
  anyOf?: Field[]
  $ref?: string
}

interface Root extends Field {
  $defs?: Record<string, Field>
}

/** An example for each area; all are valid, each by itself and all together. */
export const EXAMPLES: Readonly<Record<string, object>> = {
  prompt: {
    name: 'desk',
    description: 'Answers questions on the rules of the house.',
    prompt: 'Answer briefly, and name the rule.',
  },
  tools: { tools: { corpus_analysis: false, run_python: { approval: 'always' } } },
  skills: { skills: { sources: ['./skills', 'https://example.org/skills/report.zip'] } },
  mcpServers: {
    mcpServers: {
      desk: {
        url: 'https://desk.example.org/mcp',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: this is how it is to be written
        headers: { Authorization: 'Bearer ${DESK_TOKEN}' },
        allowTools: ['find_ticket', 'send_mail'],
        approval: ['send_mail'],
      },
    },
  },
  links: { links: 'known' },
  plugins: { plugins: ['./plugins/desk.mjs'] },
  sandbox: { sandbox: { kind: 'docker', limits: { seconds: 60, memoryMegabytes: 1_024 } } },
  limits: { limits: { rounds: 12, seconds: 120 } },
  prices: {
    prices: { models: { 'your-model': { input: 0.25, cachedInput: 0.025, output: 2 } } },
    budgets: {
      people: { tokensPerDay: 200_000 },
      groups: { interns: { tokensPerDay: 50_000 }, sales: { costPerDay: 20, shared: true } },
    },
  },
  agents: {
    agents: {
      letters: {
        description: 'Drafts letters from the rules of the house.',
        prompt: 'Write a letter. Quote the rule that it follows.',
        tools: ['semantic_search'],
        mcpServers: [],
        access: ['group:office'],
      },
    },
  },
}

/** The sections of the page, with the fields of each. */
const AREAS: readonly [title: string, example: string, fields: readonly string[]][] = [
  ['Prompt', 'prompt', ['name', 'description', 'prompt']],
  ['Tools', 'tools', ['tools']],
  ['Skills', 'skills', ['skills']],
  ['MCP connections', 'mcpServers', ['mcpServers']],
  ['Links in answers', 'links', ['links']],
  ['Plugins', 'plugins', ['plugins']],
  ['Sandbox', 'sandbox', ['sandbox']],
  ['Limits', 'limits', ['limits']],
  ['Prices and budgets', 'prices', ['prices', 'budgets']],
  ['Further agents', 'agents', ['agents']],
]

function jsonSchema(): Root {
  const schema: unknown = z.toJSONSchema(AgentConfiguration, {
    io: 'input',
    unrepresentable: 'any',
  })
  // A JSON Schema; only the properties in `Field` are read.
  return schema as Root
}

/** The JSON Schema of agent.json, for editors. */
export function agentSchema(): string {
  return `${JSON.stringify(jsonSchema(), null, 2)}\n`
}

/** The page that documents every field of agent.json. */
export function agentReference(): string {
  const root = jsonSchema()
  const { properties = {} } = resolveField(root, root)
  const sections = AREAS.map(([title, example, names]) => {
    const rows = names.flatMap((name) => rowsOf(properties[name] ?? {}, name, root))
    return `## ${title}\n\n${TABLE_HEAD}\n${rows.join('\n')}\n\n\`\`\`json\n${printed(EXAMPLES[example])}\n\`\`\`\n`
  })
  return `${HEAD}\n${sections.join('\n')}\n${NEXT}`
}

/** On one line if it fits. */
function printed(example: object | undefined): string {
  const pretty = JSON.stringify(example, null, 2)
  const line = pretty.replaceAll(/\n\s*/g, ' ').replaceAll(/\[ | \]/g, (each) => each.trim())
  return line.length <= 120 ? line : pretty
}

const HEAD = `# agent.json, field by field

Every field of the file that describes the agent, with its default and, in brackets, its values; ≤ bounds the characters of a text, or the entries of a list. All may be left out, and so may the file. With \`{ "$schema": "./agent.schema.json" }\` and that file of this repository beside it, an editor completes and checks it. A mistake is refused at the start, with its field or line. \`\${VARIABLE}\` in values of \`mcpServers\` is a variable of the environment. A change that is [saved in the server](../guides/admin.md#the-agent-configuration) answers the next question; one by hand takes a restart. Made from the schema by \`npm run agent:reference\`.
`
const TABLE_HEAD = '| field | default | meaning |\n|---|---|---|'
const NEXT =
  'Next: [tools](../guides/tools.md), [skills](../guides/skills.md), [MCP](../guides/mcp.md), [sandboxes](../guides/sandboxes.md).\n'

function rowsOf(field: Field, path: string, root: Root): string[] {
  const target = resolveField(field, root)
  const values = [defaultOf(field, target), `(${valuesOf(target, root)})`]
    // The fields of an object have rows of their own.
    .filter((each) => each !== '' && each !== '(object)')
    .join(' ')
  const row = `| \`${path}\` | ${values} | ${cell(field.description ?? target.description ?? '')} |`
  const variants = [target, ...(target.anyOf ?? []).map((each) => resolveField(each, root))]
  const inner = variants.flatMap(({ properties = {}, additionalProperties }) => [
    ...Object.entries(properties).flatMap(([name, each]) => rowsOf(each, `${path}.${name}`, root)),
    ...(typeof additionalProperties === 'object' && additionalProperties.$ref
      ? rowsOf(additionalProperties, `${path}.*`, root)
      : []),
  ])
  // Refused, or said of all tools together.
  const isNamed = /`(?:.*\.command|tools\.\w+\.approval)`/
  return [row, ...inner.filter((each) => !isNamed.test(each))]
}

function resolveField(field: Field, { $defs = {} }: Root): Field {
  const name = field.$ref?.replace('#/$defs/', '')
  return name === undefined ? field : { ...$defs[name], ...field }
}

function valuesOf(field: Field, root: Root): string {
  if (field.enum) return field.enum.map((value) => `\`${String(value)}\``).join(', ')
  if (field.const !== undefined) return `\`${String(field.const)}\``
  if (field.anyOf)
    return field.anyOf.map((each) => valuesOf(resolveField(each, root), root)).join(', or ')
  if (field.type === 'array') {
    const most = field.maxItems === undefined ? '' : ` ≤ ${field.maxItems}`
    return `list${most} of ${valuesOf(resolveField(field.items ?? {}, root), root)}`
  }
  if (field.type === 'string') {
    return field.maxLength === undefined ? 'text' : `text ≤ ${field.maxLength}`
  }
  if (field.minimum !== undefined) return `${field.minimum} to ${field.maximum}`
  return field.type ?? ''
}

function defaultOf(field: Field, target: Field): string {
  const value = field.default ?? target.default
  if (value === undefined) return ''
  return typeof value === 'object' && !Array.isArray(value)
    ? ''
    : `\`${cell(JSON.stringify(value))}\``
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ')
}

// `npm run agent:reference` writes the fields of agent.json for readers and for editors.
if (import.meta.main) {
  const root = resolve(import.meta.dirname, '..')
  await writeFile(resolve(root, 'agent.schema.json'), agentSchema())
  await writeFile(resolve(root, 'docs/reference/agent-configuration.md'), agentReference())
}
