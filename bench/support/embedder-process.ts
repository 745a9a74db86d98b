import { forkServer } from './server-process.ts'

export interface EmbedderProcess {
  /** The environment of a server that uses this embedder. */
  environment: Record<string, string>
  /** The vectors of texts, as a client receives them. */
  embed(texts: readonly string[]): Promise<number[][]>
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
    async embed(input) {
      const request = { method: 'POST', body: JSON.stringify({ input }) }
      const response = await fetch(`${url}/v1/embeddings`, request)
      const { data }: { data: { embedding: number[] }[] } = JSON.parse(await response.text())
      return data.map(({ embedding }) => embedding)
    },
    stop,
  }
}
