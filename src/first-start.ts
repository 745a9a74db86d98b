import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { exists } from '@agent-server/lib/files.ts'
import type { Log } from '@agent-server/lib/log.ts'
import { codeOf } from '@agent-server/lib/system-error.ts'

const KEY_BYTES = 24

export const makeKey = (): string => randomBytes(KEY_BYTES).toString('base64url')

const DEFAULT_PORT = 3_000
/** Ports that are tried in place of the default one. */
const OTHER_PORTS = 20

/**
 * Writes `.env` from the repository's `.env.example` with a new key, for someone who has just cloned it, and with
 * another port if the default one is taken, which `say` is told. Returns the key; undefined, and writes nothing, if
 * there is a `.env`, `SERVER_API_KEY` is set or this is production.
 */
export async function prepareFirstStart(
  directory: string,
  repository: string,
  environment: NodeJS.ProcessEnv,
  say: (line: string) => void = () => undefined,
): Promise<string | undefined> {
  if (environment.NODE_ENV === 'production' || environment.SERVER_API_KEY) return undefined
  const target = join(directory, '.env')
  if (await exists(target)) return undefined

  const example = await readFile(join(repository, '.env.example'), 'utf8')
  const key = makeKey()
  const port = environment.PORT ? DEFAULT_PORT : await freePort()
  const text = example
    .replace(/^SERVER_API_KEY=(?=\r?$)/m, `SERVER_API_KEY=${key}`)
    .replace(/^#PORT=3000(?=\r?$)/m, port === DEFAULT_PORT ? '$&' : `PORT=${port}`)
  if (!(await writeNew(target, text))) return undefined
  if (port !== DEFAULT_PORT) {
    say(`Port ${DEFAULT_PORT} is taken, so the server uses ${port}: see PORT in .env.`)
  }
  return key
}

/** The first port from the default one on that is free on the loopback; the default one if none is. */
async function freePort(): Promise<number> {
  for (let port = DEFAULT_PORT; port <= DEFAULT_PORT + OTHER_PORTS; port += 1) {
    if (await isFree(port)) return port
  }
  return DEFAULT_PORT
}

function isFree(port: number): Promise<boolean> {
  const server = createServer()
  return new Promise((resolve) => {
    server.once('error', () => resolve(false))
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      server.close(() => resolve(true))
    })
  })
}

/** Returns false, and keeps the file, if someone else has created it in the meantime. */
async function writeNew(path: string, text: string): Promise<boolean> {
  try {
    await writeFile(path, text, { mode: 0o600, flag: 'wx' })
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  }
}

/** Stands in for the key in commands: the shell then reads the key from .env. */
const READ_KEY = "$(sed -n 's/^SERVER_API_KEY=//p' .env)"

interface WelcomeOptions {
  key?: string | undefined
  page?: string | undefined
  /** Whether a model writes the answers. */
  hasModel?: boolean
}

/**
 * Says what to do next, with links and commands that can be used as they are. Output may be stored, so the key is
 * shown only this once, and not at all if `key` is left out; the link `page` lets one browser in without it.
 */
export function welcome(
  endpoint: string,
  { key, page, hasModel = false }: WelcomeOptions = {},
): string {
  const authorization = key
    ? `-H 'Authorization: Bearer ${key}'`
    : `-H "Authorization: Bearer ${READ_KEY}"`
  const answers = hasModel ? 'questions about' : 'with quotes from'
  const model = hasModel ? '' : ', where a real model is set, too'
  const json = `-H 'Content-Type: application/json'`
  return `
  Agent Server runs at ${endpoint} and answers ${answers} your documents.
  Your key is ${key ? `${key} (kept in .env` : 'the SERVER_API_KEY of .env (the file'}${model}).
${
  page
    ? `
  Open it in a browser; this link lets you in once, within 30 minutes, and later the key does:

${page}

  Or use it from here:
`
    : ''
}
  1. Add a document, and wait until it can be found:

curl '${endpoint}/documents?wait=30' ${authorization} ${json} \\
  -d '{"title": "Opening hours", "text": "The library opens at nine on weekdays. On Saturdays it opens at ten."}'

  2. Find the passages that answer a question:

curl ${endpoint}/query ${authorization} ${json} \\
  -d '{"query": "When does the library open on Saturdays?"}'

  3. Get a cited answer, streamed:

curl -N ${endpoint}/chat ${authorization} ${json} \\
  -d '{"messages": [{"role": "user", "content": "When does the library open on Saturdays?"}]}'

  Everything else: ${endpoint}/reference

`
}

/** The command that opens a URL in the user's browser, by platform. */
const OPENERS: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
  linux: ['xdg-open'],
}

/**
 * Opens the address in the local browser if there is one: not over SSH, nor on Linux without a desktop. The address is
 * printed in any case.
 */
export function openBrowser(
  address: string,
  environment: NodeJS.ProcessEnv,
  log: Pick<Log, 'debug'>,
): void {
  const [program, ...parameters] = OPENERS[process.platform] ?? []
  const { DISPLAY, WAYLAND_DISPLAY, SSH_CONNECTION } = environment
  const hasDesktop = process.platform !== 'linux' || (DISPLAY ?? WAYLAND_DISPLAY) !== undefined
  if (!program || !hasDesktop || SSH_CONNECTION !== undefined) return
  const child = spawn(program, [...parameters, address], { stdio: 'ignore', detached: true })
  child.once('error', (err) => log.debug({ err }, 'opening a browser failed'))
  child.unref()
}
