import type { Pace } from '../upstream.ts'
import { forkServer } from './server-process.ts'

export interface Upstream {
  /** For `CHAT_BASE_URL`. */
  url: string
  pace(pace: Pace): Promise<void>
  stop(): Promise<void>
}

export async function startUpstream(): Promise<Upstream> {
  const { url, tell, stop } = await forkServer(new URL('../upstream.ts', import.meta.url))
  return { url: `${url}/v1`, pace: tell, stop }
}

/** The environment of a server whose model is the upstream. */
export function modelAt(url: string): Record<string, string> {
  return { CHAT_MODEL: 'bench', CHAT_API_KEY: 'none', CHAT_BASE_URL: url }
}
