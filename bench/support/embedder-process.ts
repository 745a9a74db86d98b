import { fork } from 'node:child_process'
import { once } from 'node:events'

export interface EmbedderProcess {
  /** The environment of a server that embeds with it. */
  environment: Record<string, string>
  stop(): Promise<void>
}

export async function startEmbedder(): Promise<EmbedderProcess> {
  const child = fork(new URL('../embedder.ts', import.meta.url))
  const [address] = await once(child, 'message')
  return {
    environment: {
      EMBEDDING_MODEL: 'seeded-vectors',
      EMBEDDING_BASE_URL: `http://127.0.0.1:${address.port}/v1`,
      EMBEDDING_API_KEY: 'none',
    },
    async stop() {
      child.disconnect()
      await once(child, 'exit')
    },
  }
}
