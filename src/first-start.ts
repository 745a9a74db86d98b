import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { exists } from './lib/files.ts'

const KEY_BYTES = 24

export const makeKey = (): string => randomBytes(KEY_BYTES).toString('base64url')

/**
 * Writes `.env` from the repository's `.env.example` with a new key, for someone who has just cloned it. Returns
 * the key; undefined, and writes nothing, if there is a `.env`, `SERVER_API_KEY` is set or this is production.
 */
export async function prepareFirstStart(
  directory: string,
  repository: string,
  environment: NodeJS.ProcessEnv,
): Promise<string | undefined> {
  if (environment.NODE_ENV === 'production' || environment.SERVER_API_KEY) return undefined
  const target = join(directory, '.env')
  if (await exists(target)) return undefined

  const example = await readFile(join(repository, '.env.example'), 'utf8')
  const key = makeKey()
  const text = example.replace(/^SERVER_API_KEY=(?=\r?$)/m, `SERVER_API_KEY=${key}`)
  return (await writeNew(target, text)) ? key : undefined
}

/** Returns false, and keeps the file, if someone else has created it in the meantime. */
async function writeNew(path: string, text: string): Promise<boolean> {
  try {
    await writeFile(path, text, { mode: 0o600, flag: 'wx' })
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  }
}

/** Stands in for the key in commands: the shell then reads the key from .env. */
const READ_KEY = "$(sed -n 's/^SERVER_API_KEY=//p' .env)"

/**
 * Says what to do next, with links and commands that can be used as they are. Output may be stored, so the key is
 * shown only this once, and not at all if `key` is left out; the link `page` lets one browser in without it.
 */
export function welcome(endpoint: string, key?: string, page?: string): string {
  const authorization = key
    ? `-H 'Authorization: Bearer ${key}'`
    : `-H "Authorization: Bearer ${READ_KEY}"`
  const json = `-H 'Content-Type: application/json'`
  return `
  Agent Server runs at ${endpoint} and answers with quotes from your documents.
  Your key is ${key ? `${key} (kept in .env,` : 'the SERVER_API_KEY of .env (the file'} where a real model is set, too).
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
  log: { debug(details: object, message: string): void },
): void {
  const [program, ...parameters] = OPENERS[process.platform] ?? []
  const { DISPLAY, WAYLAND_DISPLAY, SSH_CONNECTION } = environment
  const hasDesktop = process.platform !== 'linux' || (DISPLAY ?? WAYLAND_DISPLAY) !== undefined
  if (!program || !hasDesktop || SSH_CONNECTION !== undefined) return
  const child = spawn(program, [...parameters, address], { stdio: 'ignore', detached: true })
  child.once('error', (err) => log.debug({ err }, 'no browser was opened'))
  child.unref()
}
