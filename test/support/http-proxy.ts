import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as open,
  type RequestListener,
  type ServerResponse,
} from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { closeAfterUse } from './close-after-use.ts'

/** What becomes of one request in the place of an answer. */
export type Fault =
  /** Nothing is passed on; this is answered. */
  | { status: number; headers?: Record<string, string>; body?: string }
  /** The connection breaks before the server hears of it. */
  | 'refuse'
  /** The server does what it is asked, and its answer is lost. */
  | 'lose'
  /** Nothing is ever answered. */
  | 'hang'
  /** The connection breaks after so many bytes of the answer. */
  | { cutAfter: number }
  /** Another answer in the place of the server's. */
  | { rewrite: (answer: string) => string }

export interface HttpProxy {
  /** With the prefix, without a slash at its end. */
  url: string
  /** Every request so far. */
  requests: { method: string; path: string; headers: IncomingHttpHeaders }[]
  /** Each of the next requests takes one; without any it is passed on. */
  fail(...faults: Fault[]): void
  /** Breaks every connection. */
  cut(): void
}

interface ProxyOptions {
  /** Stands before every path, and is taken away. */
  prefix?: string
  /** Paths of a certificate and its key: then the proxy ends TLS. */
  tls?: { certificate: string; key: string }
}

/** A reverse proxy before a real server, as deployments have one, which misbehaves when it is told to; ends with the test. */
export async function startHttpProxy(
  { url: target }: { url: string },
  { prefix = '', tls }: ProxyOptions = {},
): Promise<HttpProxy> {
  const requests: HttpProxy['requests'] = []
  const faults: Fault[] = []
  const listener: RequestListener = (incoming, response) => {
    const { method = '', url = '', headers } = incoming
    requests.push({ method, path: url, headers })
    const fault = faults.shift()
    if (!url.startsWith(`${prefix}/`)) response.writeHead(404).end('Not here')
    else if (fault === 'refuse') incoming.socket.destroy()
    else if (fault === 'hang') incoming.resume()
    else if (fault && typeof fault === 'object' && 'status' in fault) {
      incoming.resume()
      response.writeHead(fault.status, fault.headers).end(fault.body)
    } else passOn(new URL(url.slice(prefix.length), target), incoming, response, fault)
  }
  const server = tls
    ? createTlsServer({ cert: readFileSync(tls.certificate), key: readFileSync(tls.key) }, listener)
    : createServer(listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  closeAfterUse(() => {
    server.close()
    server.closeAllConnections()
  })
  const url = `${tls ? 'https' : 'http'}://127.0.0.1:${portOf(server.address())}${prefix}`
  return {
    url,
    requests,
    fail: (...more) => void faults.push(...more),
    cut: () => server.closeAllConnections(),
  }
}

function passOn(
  url: URL,
  incoming: IncomingMessage,
  response: ServerResponse,
  fault: Exclude<Fault, { status: number } | 'refuse' | 'hang'> | undefined,
): void {
  const { method = 'GET', headers } = incoming
  const outgoing = open(url, { method, headers: { ...headers, host: url.host } }, (answer) => {
    if (fault === 'lose') return incoming.socket.destroy()
    if (fault && 'rewrite' in fault) return void rewrite(answer, response, fault.rewrite)
    response.writeHead(answer.statusCode ?? 502, answer.headers)
    // Headers are to arrive before the first event does.
    response.flushHeaders()
    let left = fault ? fault.cutAfter : Number.POSITIVE_INFINITY
    answer.on('data', (bytes: Buffer) => {
      response.write(bytes.subarray(0, Math.max(left, 0)))
      left -= bytes.length
      if (left <= 0) response.write('', () => incoming.socket.destroy())
    })
    answer.on('end', () => response.end())
    answer.on('error', () => incoming.socket.destroy())
    return undefined
  })
  outgoing.on('error', () => incoming.socket.destroy())
  response.on('close', () => outgoing.destroy())
  incoming.pipe(outgoing)
}

async function rewrite(
  answer: IncomingMessage,
  response: ServerResponse,
  change: (answer: string) => string,
): Promise<void> {
  const { 'content-length': _length, 'transfer-encoding': _coding, ...headers } = answer.headers
  const body = change(await text(answer))
  response.writeHead(answer.statusCode ?? 502, headers).end(body)
}

function portOf(address: AddressInfo | string | null): number {
  if (typeof address === 'object' && address) return address.port
  throw new Error('The proxy has no port')
}
