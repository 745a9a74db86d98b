import { type ScriptedUpstream, startScriptedUpstream } from '../../support/scripted-upstream.ts'
import { modelAt } from '../../support/server.ts'
import { type ServerProcess, startServerProcess } from '../../support/server-process.ts'

export const QUESTION = 'When does the library open on Saturdays?'

/** The server with and without a model, as clients meet it; both know when the library opens. */
export interface TwoServers {
  /** Base URL of a server that quotes. */
  extractive: string
  /** Base URL of a server that asks `upstream`. */
  modelled: string
  upstream: ScriptedUpstream
  close(): Promise<void>
}

export async function startTwoServers(): Promise<TwoServers> {
  const upstream = await startScriptedUpstream()
  const servers = await Promise.all([startServerProcess(), startServerProcess(modelAt(upstream))])
  await Promise.all(servers.map(ingest))
  const [extractive, modelled] = servers.map(({ url }) => `${url}/v1`)
  return {
    extractive: extractive ?? '',
    modelled: modelled ?? '',
    upstream,
    async close() {
      await Promise.all(servers.map((server) => server.close()))
      await upstream.close()
    },
  }
}

async function ingest(server: ServerProcess): Promise<void> {
  await server.ingest({
    title: 'Opening hours',
    text: 'The library opens at nine on weekdays. On Saturdays it opens at ten.',
  })
  await server.ingest({ title: 'Fees', text: 'A late book costs ten cents a day.' })
}
