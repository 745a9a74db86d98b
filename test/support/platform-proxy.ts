import { type IncomingMessage, request as open } from 'node:http'
import { text } from 'node:stream/consumers'
import { type StartedServer, startHttp } from './mcp-servers.ts'

/** What a platform holds every request to; nothing is no limit. */
export interface PlatformLimits {
  /** Resolves when the time of the requests is up: they are cut, whatever they do. */
  timeUp?: Promise<void>
  /** Without a byte in either direction. */
  silenceMs?: number
  bodyBytes?: number
  /** Answers are passed on once they are whole. */
  isBuffering?: boolean
}

/** Imitates the proxy of a platform before a real server; ends with the test. */
export function startPlatformProxy(
  { url: target }: { url: string },
  limits: PlatformLimits,
): Promise<StartedServer> {
  return startHttp((incoming, response) => {
    hold(incoming, limits)
    const { method = 'GET', url = '', headers } = incoming
    if (Number(headers['content-length'] ?? 0) > (limits.bodyBytes ?? Number.POSITIVE_INFINITY)) {
      incoming.resume()
      return void response.writeHead(413, { connection: 'close' }).end('<h1>Too large</h1>')
    }
    const outgoing = open(new URL(url, target), { method, headers }, (answer) => {
      answer.on('error', () => incoming.socket.destroy())
      if (limits.isBuffering) {
        const { 'transfer-encoding': _coding, ...kept } = answer.headers
        return void text(answer).then(
          (body) => response.writeHead(answer.statusCode ?? 502, kept).end(body),
          () => incoming.socket.destroy(),
        )
      }
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      response.flushHeaders()
      return void answer.pipe(response)
    })
    outgoing.on('error', () => incoming.socket.destroy())
    response.on('close', () => outgoing.destroy())
    return void incoming.pipe(outgoing)
  })
}

/** Cuts the connection of a request that outlives its time or is silent for too long. */
function hold({ socket }: IncomingMessage, { timeUp, silenceMs }: PlatformLimits): void {
  if (silenceMs !== undefined) socket.setTimeout(silenceMs, () => socket.destroy())
  void timeUp?.then(() => socket.destroy())
}
