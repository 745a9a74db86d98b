import type { Capabilities, Readiness } from '../agent-server.ts'
import { type Command, EXIT, readParameters, UsageError } from './command.ts'
import { plain, shorten, type Terminal, table } from './terminal.ts'

const WIDTH = 100

export const status: Command = {
  summary: 'Show which parts of the server work',
  help: `Usage: agent-server-client status

Shows the parts of the server, its documents, and the capabilities of its agent: models, sandbox, skills, connections.
Exits with status 1 if a part does not work.

Examples:
  agent-server-client status
  agent-server-client status --json | jq .readiness.documents`,
  options: {},
  async run(context) {
    const { values } = readParameters(context, {})
    const { terminal, signal } = context
    const client = await context.connect(values.url)
    const [readiness, capabilities] = await Promise.all([
      client.admin.readiness({ signal }),
      client.agent.capabilities({ signal }),
    ])
    if (terminal.json) terminal.printJson({ url: client.baseURL, readiness, capabilities })
    else printStatus(terminal, client.baseURL, readiness, capabilities)
    return readiness.status === 'ready' ? EXIT.done : EXIT.failed
  },
}

function printStatus(
  terminal: Terminal,
  url: string,
  { status: state, checks, documents }: Readiness,
  capabilities: Capabilities,
): void {
  const { chat, retrieval, reranker, sandbox, skills, mcp, plugins, restartRequired } = capabilities
  const parts = Object.entries(checks).map(([name, check]) => [
    name,
    check.state,
    check.message ?? `${check.milliseconds} ms`,
  ])
  const counts = Object.entries(documents ?? {}).map(([name, number]) => `${number} ${name}`)
  const named = [...skills, ...mcp, ...plugins].map(({ name, state: of, reason }) => [
    name,
    of,
    reason ?? '',
  ])
  const rows = [
    ['server', state, url],
    ...parts,
    ['documents', counts.join(', '), ''],
    ['chat model', chat.tools ? 'calls tools' : 'calls no tools', chat.model],
    ['retrieval', retrieval, ''],
    ['reranker', reranker.state, reranker.reason ?? reranker.model ?? ''],
    ['sandbox', sandbox.state, sandbox.reason ?? sandbox.kind],
    ...named,
  ]
  for (const line of table(rows.map((row) => row.map((cell) => shorten(cell, WIDTH))))) {
    terminal.print(line.trimEnd())
  }
  if (restartRequired) terminal.note('agent.json has changed: restart the server')
}

export const agent: Command = {
  summary: 'Show the agent and its tools',
  help: `Usage: agent-server-client agent

Example:
  agent-server-client agent --json | jq '.tools[].name'`,
  options: {},
  async run(context) {
    const { values } = readParameters(context, {})
    const { terminal, signal } = context
    const client = await context.connect(values.url)
    const [record, tools] = await Promise.all([
      client.agent.get({ signal }),
      client.agent.tools({ signal }),
    ])
    if (terminal.json) {
      terminal.printJson({ ...record, tools })
      return EXIT.done
    }
    const { name, profile } = record
    terminal.print(`${terminal.style('bold', plain(name))}  ${profile.model}, ${profile.retrieval}`)
    terminal.print(`${plain(profile.description)}\n`)
    const rows = tools.map((tool) => [
      tool.name,
      tool.state,
      shorten(tool.reason ?? tool.description, WIDTH),
    ])
    for (const line of table(rows)) terminal.print(line)
    return EXIT.done
  },
}

const TEST_OPTIONS = {
  accept: { type: 'boolean' },
  tool: { type: 'string' },
  arguments: { type: 'string' },
} as const

export const mcp: Command = {
  summary: 'Test a connection to an MCP server',
  help: `Usage: agent-server-client mcp test <connection> [options]

Connects as a chat would and reports each step. Exits with status 1 if a step fails.

  --accept           accept the current tool definitions of the server
  --tool NAME        call this tool
  --arguments JSON   arguments of the call

Example:
  agent-server-client mcp test files --tool read --arguments '{"path": "a.txt"}'`,
  words: ['test'],
  options: TEST_OPTIONS,
  async run(context) {
    const { values, positionals } = readParameters(context, TEST_OPTIONS)
    const [action, name, ...more] = positionals
    if (action !== 'test' || name === undefined || more.length > 0) {
      throw new UsageError('mcp takes: test <connection>')
    }
    const { accept = false, tool } = values
    const request = { accept, ...(tool && { tool }), arguments: readJson(values.arguments) }
    const { terminal, signal } = context
    const client = await context.connect(values.url)
    const result = await client.agent.mcp.test(name, request, { signal })
    if (terminal.json) terminal.printJson(result)
    else {
      const rows = result.steps.map(({ step, ...of }) => toRow(step, of))
      for (const line of table(rows)) terminal.print(line)
      const tools = result.tools.map((each) => [each.name, each.state, each.reason ?? ''])
      for (const line of table(tools)) terminal.print(`  ${line.trimEnd()}`)
      if (result.output !== undefined) terminal.print(plain(result.output))
    }
    return result.ok ? EXIT.done : EXIT.failed
  },
}

function readJson(text = '{}'): Record<string, unknown> {
  try {
    const value = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  } catch {
    throw new UsageError('--arguments must be JSON')
  }
  throw new UsageError('--arguments must be an object')
}

interface Outcome {
  ok: boolean
  milliseconds: number
  message?: string
}

function toRow(name: string, { ok, milliseconds, message = '' }: Outcome): string[] {
  return [name, ok ? 'ok' : 'failed', `${Math.round(milliseconds)} ms`, plain(message)]
}

export const sandbox: Command = {
  summary: 'Test what the sandbox must do and must prevent',
  help: `Usage: agent-server-client sandbox verify

Runs real code in the agent's sandbox, which takes some seconds. Exits with status 1 if a probe fails.

Example:
  agent-server-client sandbox verify`,
  words: ['verify'],
  options: {},
  async run(context) {
    const { values, positionals } = readParameters(context, {})
    if (positionals.join(' ') !== 'verify') throw new UsageError('sandbox takes: verify')
    const { terminal, signal } = context
    const client = await context.connect(values.url)
    const report = await client.agent.sandbox.verify({ signal })
    if (terminal.json) terminal.printJson(report)
    else {
      terminal.print(`${report.kind}: ${report.ok ? 'ok' : 'failed'}`)
      const rows = report.probes.map(({ name, remedy, message, ...of }) =>
        toRow(name, { ...of, message: [message, remedy].filter(Boolean).join(': ') }),
      )
      for (const line of table(rows)) terminal.print(`  ${line.trimEnd()}`)
    }
    return report.ok ? EXIT.done : EXIT.failed
  },
}
