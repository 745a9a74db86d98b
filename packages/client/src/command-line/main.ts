#!/usr/bin/env node
import { readFile } from 'node:fs/promises'
import { AbortError, AuthenticationError, ConnectionError, TimeoutError } from '../agent-server.ts'
import { add } from './add.ts'
import { chat } from './chat.ts'
import { type Command, closest, EXIT, UsageError } from './command.ts'
import { createCompletion } from './completion.ts'
import { conversations } from './conversations.ts'
import { documents } from './documents.ts'
import { downloadDocuments } from './download.ts'
import { feedback } from './feedback.ts'
import { keys } from './keys.ts'
import { connect, LoginError, login, logout } from './login.ts'
import { agent, mcp, sandbox, status } from './operations.ts'
import { query } from './query.ts'
import { createTerminal, plain, type Terminal } from './terminal.ts'

const COMMANDS = new Map<string, Command>([
  ['chat', chat],
  ['query', query],
  ['add', add],
  ['documents', documents],
  ['conversations', conversations],
  ['feedback', feedback],
  ['status', status],
  ['agent', agent],
  ['mcp', mcp],
  ['sandbox', sandbox],
  ['keys', keys],
  ['download', downloadDocuments],
  ['login', login],
  ['logout', logout],
])
COMMANDS.set('completion', createCompletion(COMMANDS))

const HELP = `Usage: agent-server-client <command> [options]

${Array.from(COMMANDS, ([name, { summary }]) => `  ${name.padEnd(14)} ${summary}`).join('\n')}

Every command takes, also before its name:
  --url URL    address of the server, such as https://agent.example.org
  --json       print results as JSON
  --help       show usage and examples of the command

The server and its key are taken from the first of: --url, AGENT_SERVER_URL and AGENT_SERVER_KEY, the SERVER_API_KEY of
a server on this machine, the saved login. A key from AGENT_SERVER_KEY alone goes to the saved login's server.

Exit status: 0 success, 1 request refused or failed, 2 usage error, 3 server unreachable, 4 missing or wrong key,
130 interrupted.`

async function main(): Promise<number> {
  const { name, parameters } = readName(process.argv.slice(2))
  const terminal = createTerminal(process, process.env)
  // The reader of a pipe may leave early, as `head` does.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    process.exit(error.code === 'EPIPE' ? EXIT.done : EXIT.failed)
  })
  if (name === '--version') {
    terminal.print(await version())
    return EXIT.done
  }
  const command = COMMANDS.get(name)
  if (!command || asksForHelp(parameters)) return help(terminal, name, command)
  terminal.json = parameters.includes('--json')
  const interrupted = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => interrupted.abort(new Error('Interrupted')))
  }
  const { signal } = interrupted
  try {
    return await command.run({
      parameters,
      terminal,
      environment: process.env,
      signal,
      connect: (url, options) => connect(url, process.env, options),
    })
  } catch (error) {
    return signal.aborted ? EXIT.interrupted : explain(error, name, terminal)
  }
}

/** The command, and its parameters with the options that stand before its name. */
function readName(given: readonly string[]) {
  let start = 0
  for (let option = given[0]; option && /^--(?:url(?:=|$)|json$)/.test(option); ) {
    start += option === '--url' ? 2 : 1
    option = given[start]
  }
  const [name = '', ...rest] = given.slice(start)
  return { name, parameters: [...given.slice(0, start), ...rest] }
}

/** Arguments after `--` are not options. */
function asksForHelp(parameters: readonly string[]): boolean {
  const end = parameters.indexOf('--')
  const options = end === -1 ? parameters : parameters.slice(0, end)
  return options.includes('--help') || options.includes('-h')
}

function help(terminal: Terminal, name: string, command: Command | undefined): number {
  if (command) terminal.print(command.help)
  else if (['', 'help', '--help', '-h'].includes(name)) terminal.print(HELP)
  else {
    const closestName = closest(name, [...COMMANDS.keys()])
    const hint = closestName ? `: did you mean ${closestName}?` : ''
    const rest = '; agent-server-client --help lists what there is'
    terminal.note(`There is no command ${plain(name)}${hint || rest}`)
  }
  return command || ['help', '--help', '-h'].includes(name) ? EXIT.done : EXIT.usage
}

async function version(): Promise<string> {
  const { version: number } = JSON.parse(
    await readFile(new URL('../../package.json', import.meta.url), 'utf8'),
  )
  return String(number)
}

const WHERE = 'Does it run? Another one is named with --url, or with AGENT_SERVER_URL'

/** Errors that users can fix are reported by message; a bug in this program keeps its stack. */
function explain(error: unknown, name: string, terminal: Terminal): number {
  if (!(error instanceof Error)) throw error
  const { stack = error.message } = error
  const message = describePath(error) ?? error.message
  const isMistake = error instanceof TypeError || error instanceof ReferenceError
  const words = isMistake ? stack : plain(message)
  if (error instanceof UsageError) {
    terminal.note(`${words}\nagent-server-client ${name} --help shows the usage`)
    return EXIT.usage
  }
  const { code, requestId } = { code: undefined, requestId: undefined, ...error }
  if (terminal.json) {
    terminal.note(JSON.stringify({ error: { name: error.name, code, message, requestId } }))
  } else {
    const id = requestId === undefined ? '' : ` (request ${requestId})`
    terminal.note(`${terminal.style('red', words)}${id}`)
    if (error instanceof ConnectionError) terminal.note(WHERE)
  }
  return codeOf(error)
}

const PATH_PROBLEMS: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'is no folder',
  EISDIR: 'is a folder',
  EACCES: 'may not be read or written',
}

/** Describes the problem with a path, if that is what failed. */
function describePath(error: Error): string | undefined {
  const { code = '', path = '' } = { code: '', path: '', ...error }
  const problem = PATH_PROBLEMS[code]
  return problem && path && `${path} ${problem}`
}

function codeOf(error: Error): number {
  if (error instanceof ConnectionError || error instanceof TimeoutError) return EXIT.unreachable
  if (error instanceof AuthenticationError || error instanceof LoginError) return EXIT.unauthorized
  return error instanceof AbortError ? EXIT.interrupted : EXIT.failed
}

// Not `exit`, which would cut off output that a pipe has not taken yet.
process.exitCode = await main()
