import { fork } from 'node:child_process'
import { once } from 'node:events'

export interface EmbedderProcess {
  /** The environment of a server that embeds with it. */
  environment: Record<string, string>
  /** The vectors of texts, as a client of it gets them. */
  embed(texts: readonly string[]): Promise<number[][]>
  stop(): Promise<void>
}

export async function startEmbedder(): Promise<EmbedderProcess> {
  const child = fork(new URL('../embedder.ts', import.meta.url))
  const [address] = await once(child, 'message')
  const url = `http://127.0.0.1:${address.port}/v1`
  return {
    environment: {
      EMBEDDING_MODEL: 'seeded-vectors',
      EMBEDDING_BASE_URL: url,
      EMBEDDING_API_KEY: 'none',
    },
    async embed(input) {
      const request = { method: 'POST', body: JSON.stringify({ input }) }
      const response = await fetch(`${url}/embeddings`, request)
      const { data }: { data: { embedding: number[] }[] } = JSON.parse(await response.text())
      return data.map(({ embedding }) => embedding)
    },
    async stop() {
      child.disconnect()
      await once(child, 'exit')
    },
  }
}
