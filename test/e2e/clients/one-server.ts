import { type ScriptedEmbedder, startScriptedEmbedder } from '../../support/scripted-embedder.ts'
import { type ScriptedUpstream, startScriptedUpstream } from '../../support/scripted-upstream.ts'
import { modelAt, startServer } from '../../support/server.ts'

export const QUESTION = 'When does the library open on Saturdays?'

/** A server with a scripted model and embedder, which knows when the library opens and what owls do. */
export interface OneServer {
  /** Base URL of the server for what speaks OpenAI's protocols. */
  baseURL: string
  upstream: ScriptedUpstream
  /** The id of the document with the hours. */
  hours: string
  close(): Promise<void>
}

export async function startOneServer(): Promise<OneServer> {
  const upstream = await startScriptedUpstream()
  const embedder: ScriptedEmbedder = await startScriptedEmbedder()
  const server = await startServer({
    ...modelAt(upstream),
    ...{ EMBEDDING_MODEL: 'scripted', EMBEDDING_BASE_URL: embedder.url, EMBEDDING_API_KEY: 'k' },
  })
  const text = 'The library opens at nine on weekdays. On Saturdays it opens at ten.'
  const hours = await server.ingest({ title: 'Opening hours', text })
  await server.ingest({ title: 'Owls', text: 'Owls hunt at night.', collection: 'birds' })
  return {
    ...{ baseURL: `${server.url}/v1`, upstream, hours },
    async close() {
      await server.close()
      await embedder.close()
      await upstream.close()
    },
  }
}
