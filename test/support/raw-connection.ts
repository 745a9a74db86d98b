import { connect, type Socket } from 'node:net'
import { TEST_KEY } from './server.ts'

/** A TCP connection to a server, for what no HTTP client would send. */
export interface RawConnection {
  readonly socket: Socket
  /** Everything received so far. */
  readonly text: string
  send(bytes: string | Uint8Array): void
  /** Everything received so far, once it matches; rejects where the server closes before. */
  received(pattern: RegExp): Promise<string>
  /** Everything received, once the connection is closed by the server, however it does that. */
  closed(): Promise<string>
  /** Leaves without closing. */
  vanish(): void
}

export async function openConnection({ url }: { url: string }): Promise<RawConnection> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port) })
  let text = ''
  let isClosed = false
  const listeners = new Set<() => void>()
  const notify = () => {
    for (const listener of [...listeners]) listener()
  }
  socket.setEncoding('utf8')
  socket.on('data', (more) => {
    text += more
    notify()
  })
  // A reset is one way of closing; what counts is what came before it.
  socket.on('error', notify)
  socket.on('close', () => {
    isClosed = true
    notify()
  })
  await new Promise((resolve, reject) => {
    socket.once('connect', resolve)
    socket.once('error', reject)
  })

  const wait = (isOver: () => boolean, isFailed: () => boolean) =>
    new Promise<string>((resolve, reject) => {
      const look = () => {
        if (!isOver() && !isFailed()) return
        listeners.delete(look)
        if (isOver()) resolve(text)
        else reject(new Error(`The connection was closed after: ${text}`))
      }
      listeners.add(look)
      look()
    })

  return {
    socket,
    get text() {
      return text
    },
    send: (bytes) => void socket.write(bytes),
    received: (pattern) =>
      wait(
        () => pattern.test(text),
        () => isClosed,
      ),
    closed: () =>
      wait(
        () => isClosed,
        () => false,
      ),
    vanish: () => void socket.resetAndDestroy(),
  }
}

export interface RawRequest {
  method?: string
  path: string
  /** Beside `host` and the key; `undefined` leaves out even these. */
  headers?: readonly string[]
  body?: string | Uint8Array
}

/** A request with the key, byte for byte; a body gets its length unless the headers tell another. */
export function rawRequest({ method, path, headers = [], body }: RawRequest): Buffer {
  const bytes = Buffer.from(body ?? '')
  const isKnown = headers.some((header) => /^(content-length|transfer-encoding):/i.test(header))
  const head = [
    `${method ?? (body === undefined ? 'GET' : 'POST')} ${path} HTTP/1.1`,
    'host: localhost',
    `authorization: Bearer ${TEST_KEY}`,
    ...(body !== undefined && !headers.some((header) => /^content-type:/i.test(header))
      ? ['content-type: application/json']
      : []),
    ...(body !== undefined && !isKnown ? [`content-length: ${bytes.length}`] : []),
    ...headers,
  ]
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), bytes])
}

/** What a raw connection received, as an answer. */
export function toResponse(text: string): Response {
  const [head = '', body = ''] = text.split('\r\n\r\n')
  const [statusLine = '', ...lines] = head.split('\r\n')
  const headers = lines.map((line): [string, string] => {
    const [name = '', ...value] = line.split(': ')
    return [name, value.join(': ')]
  })
  return new Response(body, { status: Number(statusLine.split(' ')[1]), headers })
}
