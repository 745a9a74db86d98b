import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  request,
  type Server,
  type ServerResponse,
} from 'node:http'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { createMcpHandler, type McpServer } from '@modelcontextprotocol/server'
import { closeAfterUse } from './close-after-use.ts'
import { freePort } from './server-process.ts'

const EVERYTHING = new URL(
  '../../node_modules/@modelcontextprotocol/server-everything/dist/index.js',
  import.meta.url,
)
const HOST = '127.0.0.1'

export interface StartedServer {
  url: string
  /** May be called more than once. */
  stop(): Promise<void>
}

/** The reference server from npm, which speaks the older protocol, in a process of its own. */
export async function startEverything(
  transport: 'streamableHttp' | 'sse',
  port?: number | string,
): Promise<StartedServer> {
  const listen = port ?? (await freePort())
  const child = spawn(process.execPath, [fileURLToPath(EVERYTHING), transport], {
    env: { PATH: process.env.PATH, PORT: String(listen) },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const ended = once(child, 'exit')
  const stop = async () => {
    child.kill('SIGKILL')
    await ended
  }
  closeAfterUse(stop)
  await new Promise<void>((resolve) => {
    child.stderr.on('data', (said) => {
      if (/(?:listening|running) on port/i.test(String(said))) resolve()
    })
  })
  const path = transport === 'sse' ? 'sse' : 'mcp'
  return { url: `http://${HOST}:${listen}/${path}`, stop }
}

export interface ModernServer extends StartedServer {
  /** The heads of all requests so far. */
  requests: { method: string; headers: IncomingMessage['headers'] }[]
  /** Tells whoever listens that the tools have changed. */
  toolsChanged(): void
}

/** A server of the current protocol; `build` is asked anew for each request. */
export async function startModernServer(
  build: () => McpServer,
  port?: number | string,
): Promise<ModernServer> {
  const handler = createMcpHandler(() => build())
  const requests: ModernServer['requests'] = []
  const serve = async (incoming: IncomingMessage, response: ServerResponse) => {
    requests.push({ method: incoming.method ?? '', headers: incoming.headers })
    const left = new AbortController()
    response.once('close', () => left.abort())
    const body = await text(incoming)
    const answer = await handler.fetch(
      new Request(`http://${HOST}${incoming.url}`, {
        method: incoming.method ?? 'GET',
        headers: Object.entries(incoming.headers).map(([name, value]): [string, string] => [
          name,
          String(value),
        ]),
        ...(body && { body }),
        signal: left.signal,
      }),
    )
    response.writeHead(answer.status, Object.fromEntries(answer.headers))
    if (!answer.body) return void response.end()
    const stream = Readable.fromWeb(answer.body)
    response.once('close', () => stream.destroy())
    stream.on('error', () => response.destroy()).pipe(response)
  }
  const server = await startHttp((...exchange) => void serve(...exchange), port)
  return {
    requests,
    url: `${server.url}/mcp`,
    toolsChanged: () => handler.notify.toolsChanged(),
    async stop() {
      await handler.close()
      await server.stop()
    },
  }
}

/** Any HTTP server on the loopback. */
export async function startHttp(
  listener: RequestListener,
  port: number | string = 0,
): Promise<StartedServer> {
  const server = createServer(listener).listen(Number(port), HOST)
  await once(server, 'listening')
  const stop = async () => {
    if (!server.listening) return
    const closed = once(server, 'close')
    server.close()
    server.closeAllConnections()
    await closed
  }
  closeAfterUse(stop)
  return { url: `http://${HOST}:${portOf(server)}`, stop }
}

/** Hands every request on to another server. */
export const handTo =
  (url: string): RequestListener =>
  (incoming, response) => {
    const { method, headers } = incoming
    const onward = request(url, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    onward.on('error', () => response.destroy())
    response.once('close', () => onward.destroy())
    incoming.pipe(onward)
  }

export interface GuardedServer extends StartedServer {
  /** The authorisation server. */
  issuer: string
  /** What the authorisation server was asked: method, path, and the headers as JSON. */
  seen: string[]
}

/** An MCP server that takes the token of its authorisation server only, which gives it for client credentials. */
export async function startGuardedServer(
  onGranted: RequestListener | string,
): Promise<GuardedServer> {
  const granted = typeof onGranted === 'string' ? handTo(onGranted) : onGranted
  const json = (response: ServerResponse, body: object) =>
    response.setHeader('content-type', 'application/json').end(JSON.stringify(body))
  const seen: string[] = []
  const login = await startHttp((incoming, response) => {
    seen.push(`${incoming.method} ${incoming.url} ${JSON.stringify(incoming.headers)}`)
    incoming.resume()
    const base = `http://${incoming.headers.host}`
    if (incoming.url?.startsWith('/token')) {
      json(response, { access_token: 'granted', token_type: 'Bearer', expires_in: 3_600 })
    } else {
      json(response, {
        issuer: base,
        token_endpoint: `${base}/token`,
        authorization_endpoint: `${base}/authorize`,
        response_types_supported: ['code'],
        grant_types_supported: ['client_credentials'],
      })
    }
  })
  const guarded = await startHttp((incoming, response) => {
    const base = `http://${incoming.headers.host}`
    if (incoming.url?.includes('oauth-protected-resource')) {
      json(response, { resource: `${base}/mcp`, authorization_servers: [login.url] })
    } else if (incoming.headers.authorization === 'Bearer granted') {
      granted(incoming, response)
    } else {
      const url = `${base}/.well-known/oauth-protected-resource/mcp`
      response.writeHead(401, { 'www-authenticate': `Bearer resource_metadata="${url}"` }).end()
    }
  })
  return { ...guarded, url: `${guarded.url}/mcp`, issuer: login.url, seen }
}

/** Takes every request and answers none. */
export const startHungServer = () => startHttp((incoming) => void incoming.resume())

/** A web page, whatever is asked. */
export const startWebPage = () =>
  startHttp((_incoming, response) => {
    response.setHeader('content-type', 'text/html').end('<!doctype html><p>Welcome</p>')
  })

function portOf(server: Server): number {
  const address = server.address()
  if (typeof address !== 'object' || !address) throw new Error('The server has no port')
  return address.port
}
