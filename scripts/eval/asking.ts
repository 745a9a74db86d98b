import { type Answered, type AskedQuestion, type Place, TOP_K } from '@agent-server/evaluation'
import type { SearchMode } from '@agent-server/schemas/query.ts'
import type { AgentServer } from '../../packages/client/src/agent-server.ts'

const DEADLINE_MS = 600_000

interface Asking {
  client: AgentServer
  /** The collection's id of each document by the server's; documents that the server had before are not among them. */
  ids: ReadonlyMap<string, string>
}

/** Asks a server over HTTP. Documents of hits have the names that the collection gives them. */
export function createAsking({ client, ids }: Asking) {
  const named = <Hit extends Place>(hits: readonly Hit[]) =>
    hits.map((hit) => ({ ...hit, documentId: ids.get(hit.documentId) ?? hit.documentId }))
  return {
    search:
      (mode: SearchMode | undefined) =>
      async ({ text: query, collection }: AskedQuestion) => {
        const request = {
          query,
          collection: collection ?? null,
          topK: TOP_K,
          ...(mode && { mode }),
        }
        const { hits, degraded } = await client.query(request)
        return { hits: named(hits), degraded }
      },
    async answer({ text: content, collection }: AskedQuestion): Promise<Answered> {
      const signal = AbortSignal.timeout(DEADLINE_MS)
      const messages = [{ role: 'user' as const, content }]
      const { text, hits, citations, abstained } = await client
        .chat({ messages, collection: collection ?? null }, { signal })
        .result()
      return { text, hits: named(hits), citations, abstained }
    },
  }
}
