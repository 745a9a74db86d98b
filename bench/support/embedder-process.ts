import { forkServer } from './server-process.ts'

export interface EmbedderProcess {
  /** The environment of a server that embeds with it. */
  environment: Record<string, string>
  stop(): Promise<void>
}

export async function startEmbedder(): Promise<EmbedderProcess> {
  const { url, stop } = await forkServer(new URL('../embedder.ts', import.meta.url))
  return {
    environment: {
      EMBEDDING_MODEL: 'seeded-vectors',
      EMBEDDING_BASE_URL: `${url}/v1`,
      EMBEDDING_API_KEY: 'none',
    },
    stop,
  }
}
