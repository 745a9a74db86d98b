import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'

const ROOT = resolve(import.meta.dirname, '../..')
const ADDRESS = /listening at (http:\/\/[^\s",]+)/

export interface LocalServer {
  url: string
  key: string
  stop(): Promise<void>
}

/** Starts the server of a checkout as a process on a free port, with this environment's settings and its own data directory. */
export async function startLocalServer(directory: string, checkout = ROOT): Promise<LocalServer> {
  const key = randomBytes(16).toString('hex')
  const child = spawn(process.execPath, [resolve(checkout, 'src/main.ts')], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      CHAT_MODEL: 'extractive',
      ...process.env,
      SERVER_API_KEY: key,
      DATA_DIR: directory,
      HOST: '127.0.0.1',
      PORT: '0',
      LOG_LEVEL: 'info',
      // Otherwise it would wait for somebody who reads the mistake in a browser.
      FAILED_START: 'exit',
    },
  })
  const ended = once(child, 'exit')
  for await (const line of createInterface({ input: child.stdout })) {
    const [, url] = ADDRESS.exec(line) ?? []
    if (url === undefined) continue
    child.stdout.resume()
    return { url, key, stop: () => stop(child, ended) }
  }
  throw new Error('The server did not start')
}

async function stop(child: ReturnType<typeof spawn>, ended: Promise<unknown>): Promise<void> {
  child.kill('SIGTERM')
  await ended
}
