import { connect } from 'node:net'
import { onTestFinished } from 'vitest'

export interface RawClient {
  send(text: string): void
  /** Everything received so far. */
  received(): string
  /** Resolves with everything received once `pattern` is in it; rejects when the server closes before. */
  until(pattern: RegExp): Promise<string>
  /** Resolves with everything received once the connection is closed. */
  readonly closed: Promise<string>
  /** Stops reading, so that the server cannot write any more once the buffers are full. */
  pause(): void
  resume(): void
  leave(): void
}

/** A client that sends bytes as they are, broken or not. */
export async function connectRaw(port: number): Promise<RawClient> {
  const socket = connect(port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  let received = ''
  socket.setEncoding('utf8').on('data', (text: string) => {
    received += text
  })
  // A connection that is reset is closed, too, which is all that the tests ask about.
  socket.on('error', () => socket.destroy())
  const closed = new Promise<string>((resolve) => socket.once('close', () => resolve(received)))
  await new Promise((resolve) => socket.once('connect', resolve))

  return {
    send: (text) => void socket.write(text),
    received: () => received,
    until: (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (!pattern.test(received)) return
          socket.off('data', look)
          resolve(received)
        }
        socket.on('data', look)
        socket.once('close', () => reject(new Error(`Closed after: ${received}`)))
        look()
      }),
    closed,
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
    leave: () => void socket.destroy(),
  }
}

/** A request with an empty JSON body, as its bytes. */
export function rawPost(path: string, body = '{}'): string {
  const head = [
    `POST ${path} HTTP/1.1`,
    'host: test',
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
  ]
  return `${head.join('\r\n')}\r\n\r\n${body}`
}
