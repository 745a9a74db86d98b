import { chmod, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { AgentServer, type AgentServerOptions } from '../agent-server.ts'
import { type Command, type CommandContext, EXIT, readParameters, UsageError } from './command.ts'
import type { Terminal } from './terminal.ts'

const ONLY_OWNER = 0o600
const NOT_OWNER = 0o077
const LOCAL_PORT = 3_000

/** There is no key to send. */
export class LoginError extends Error {
  override readonly name = 'LoginError'
}

type Environment = CommandContext['environment']

/**
 * Chooses the server and the key: `--url`, then the variables AGENT_SERVER_URL and AGENT_SERVER_KEY, then those of
 * a server on this machine (SERVER_API_KEY, HOST, PORT), then the stored login, whose address a key from
 * AGENT_SERVER_KEY goes to if no other is named. A stored key is sent only to the server that it was stored for.
 */
export async function connect(
  url: string | undefined,
  environment: Environment,
  options: AgentServerOptions = {},
): Promise<AgentServer> {
  const { AGENT_SERVER_URL, AGENT_SERVER_KEY, SERVER_API_KEY } = environment
  const baseURL = url ?? (AGENT_SERVER_URL || undefined)
  if (AGENT_SERVER_KEY) {
    const address = baseURL ?? (await readLogin(environment))?.url
    return clientOf({ ...options, baseURL: address, apiKey: AGENT_SERVER_KEY })
  }
  if (SERVER_API_KEY) {
    const address = baseURL ?? localServer(environment)
    return clientOf({ ...options, baseURL: address, apiKey: SERVER_API_KEY })
  }
  const login = await readLogin(environment)
  const requestedUrl =
    baseURL === undefined ? login?.url : clientOf({ baseURL, apiKey: null }).baseURL
  if (login && login.url === requestedUrl) {
    return clientOf({ ...options, baseURL: login.url, apiKey: login.key })
  }
  const of = baseURL === undefined ? '' : ` for ${baseURL}`
  throw new LoginError(`There is no key${of}: agent-server-client login, or set AGENT_SERVER_KEY`)
}

/** Throws `UsageError` for a malformed URL or key. */
function clientOf(options: AgentServerOptions): AgentServer {
  try {
    return new AgentServer(options)
  } catch (error) {
    throw error instanceof TypeError ? new UsageError(error.message) : error
  }
}

function localServer({ HOST, PORT }: Environment): string {
  const isAnywhere = !HOST || HOST === '0.0.0.0' || HOST === '::'
  const host = isAnywhere ? '127.0.0.1' : HOST
  return `http://${host.includes(':') ? `[${host}]` : host}:${PORT || LOCAL_PORT}`
}

interface Login {
  url: string
  key: string
}

function loginFile({ XDG_CONFIG_HOME, APPDATA }: Environment): string {
  const system = process.platform === 'win32' ? APPDATA : XDG_CONFIG_HOME
  return join(system || join(homedir(), '.config'), 'agent-server', 'login.json')
}

async function readLogin(environment: Environment): Promise<Login | undefined> {
  const file = loginFile(environment)
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (text === undefined) return undefined
  const { mode } = await stat(file)
  if (process.platform !== 'win32' && (mode & NOT_OWNER) !== 0) {
    throw new LoginError(`${file} can be read by others: chmod 600, or log in again`)
  }
  const { url, key } = Object(parse(text))
  if (typeof url === 'string' && typeof key === 'string') return { url, key }
  throw new LoginError(`${file} is damaged: log in again`)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Writes the file atomically, and never readable by others, not even for a moment. */
async function writeLogin(environment: Environment, login: Login): Promise<string> {
  const file = loginFile(environment)
  const folder = join(file, '..')
  const draft = `${file}.${process.pid}`
  await mkdir(folder, { recursive: true, mode: 0o700 })
  try {
    await writeFile(draft, `${JSON.stringify(login, undefined, 2)}\n`, { mode: ONLY_OWNER })
    await chmod(draft, ONLY_OWNER)
    await rename(draft, file)
  } finally {
    await rm(draft, { force: true })
  }
  return file
}

export const login: Command = {
  summary: 'Save the address and the key of a server',
  help: `Usage: agent-server-client login [URL]

Prompts for the key, or reads it from standard input, tests it, and saves it with the address in the user's
configuration directory, readable by no other user. Default URL: the server on this machine.

Examples:
  agent-server-client login https://agent.example.org
  agent-server-client login < key.txt`,
  options: {},
  async run(context) {
    const { positionals, values } = readParameters(context, {})
    const { terminal, environment, signal } = context
    const [url = values.url ?? localServer({}), ...more] = positionals
    if (more.length > 0) throw new UsageError('login takes one URL')
    const key = await askForKey(terminal, signal)
    if (!/^[\x21-\x7e]+$/.test(key)) throw new UsageError('This is not a valid key')
    const client = clientOf({ baseURL: url, apiKey: key })
    const { name } = await client.agent.get({ signal })
    const file = await writeLogin(environment, { url: client.baseURL, key })
    if (terminal.json) terminal.printJson({ url: client.baseURL, agent: name, file })
    else terminal.print(`Logged in to ${client.baseURL}, whose agent is ${name}; saved in ${file}`)
    return EXIT.done
  },
}

export const logout: Command = {
  summary: 'Delete the saved login',
  help: `Usage: agent-server-client logout

Deletes the saved address and key.`,
  options: {},
  async run(context) {
    readParameters(context, {})
    await rm(loginFile(context.environment), { force: true })
    return EXIT.done
  },
}

/** Typed input is not echoed. */
async function askForKey({ stdin, stderr }: Terminal, signal: AbortSignal): Promise<string> {
  const isAsked = stdin.isTTY === true
  const nowhere = new Writable({ write: (_text, _coding, done) => done() })
  if (isAsked) stderr.write('Key: ')
  const reader = createInterface({ input: stdin, output: nowhere, terminal: isAsked })
  const close = () => reader.close()
  signal.addEventListener('abort', close, { once: true })
  reader.on('SIGINT', close)
  try {
    for await (const line of reader) return line.trim()
    return ''
  } finally {
    reader.close()
    if (isAsked) stderr.write('\n')
  }
}
