import { startScriptedEmbedder } from '../../support/scripted-embedder.ts'
import { type ScriptedUpstream, startScriptedUpstream } from '../../support/scripted-upstream.ts'
import { modelAt, startServer } from '../../support/server.ts'

export const QUESTION = 'When does the library open on Saturdays?'

/** A server with a scripted model and embedder, which knows when the library opens and what owls do; closes itself. */
export interface OneServer {
  url: string
  /** Base URL of the server for what speaks OpenAI's protocols. */
  baseURL: string
  upstream: ScriptedUpstream
  /** The id of the document with the hours. */
  hours: string
}

export async function startOneServer(): Promise<OneServer> {
  const upstream = await startScriptedUpstream()
  const embedder = await startScriptedEmbedder()
  const server = await startServer({
    ...modelAt(upstream),
    EMBEDDING_MODEL: 'scripted',
    EMBEDDING_BASE_URL: embedder.url,
    EMBEDDING_API_KEY: 'k',
  })
  const text = 'The library opens at nine on weekdays. On Saturdays it opens at ten.'
  const hours = await server.ingest({ title: 'Opening hours', text })
  await server.ingest({ title: 'Owls', text: 'Owls hunt at night.', collection: 'birds' })
  return {
    url: server.url,
    baseURL: `${server.url}/openai/v1`,
    upstream,
    hours,
  }
}
