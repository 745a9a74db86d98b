import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { Pace } from '../upstream.ts'

export interface Upstream {
  /** For `CHAT_BASE_URL`. */
  url: string
  pace(pace: Pace): Promise<void>
  stop(): Promise<void>
}

export async function startUpstream(): Promise<Upstream> {
  const child = fork(new URL('../upstream.ts', import.meta.url))
  const [address] = await once(child, 'message')
  return {
    url: `http://127.0.0.1:${address.port}/v1`,
    async pace(pace) {
      child.send(pace)
      await once(child, 'message')
    },
    async stop() {
      child.disconnect()
      await once(child, 'exit')
    },
  }
}

/** The environment of a server whose model is the upstream. */
export function modelAt(url: string): Record<string, string> {
  return { CHAT_MODEL: 'bench', CHAT_API_KEY: 'none', CHAT_BASE_URL: url }
}
