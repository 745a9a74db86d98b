import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { closeAfterUse } from './close-after-use.ts'

export interface ScriptedServer {
  /** Of the paths below `/v1`. */
  url: string
  close(): Promise<void>
}

/** Answers every request on a free port but those for a list of models, which it lacks; it closes itself, but in a hook. */
export async function serveScripted(
  answer: (incoming: IncomingMessage, response: ServerResponse) => Promise<void>,
): Promise<ScriptedServer> {
  const server = createServer((incoming, response) => {
    if (incoming.method !== 'GET') void answer(incoming, response)
    else response.writeHead(404, { 'content-type': 'application/json' }).end('{}')
  })
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const close = async () => {
    if (!server.listening) return
    const closed = new Promise((resolve) => server.once('close', resolve))
    server.close()
    server.closeAllConnections()
    await closed
  }
  closeAfterUse(close)
  return { url: `http://127.0.0.1:${portOf(server.address())}/v1`, close }
}

function portOf(address: AddressInfo | string | null): number {
  if (typeof address !== 'object' || !address) throw new Error('The server has no port')
  return address.port
}
