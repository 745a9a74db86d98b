import { onTestFinished } from 'vitest'
import { openConnection } from '../../../test/support/raw-connection.ts'

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
  const connection = await openConnection({ url: `http://127.0.0.1:${port}` })
  const { socket } = connection
  onTestFinished(() => void socket.destroy())
  return {
    send: connection.send,
    received: () => connection.text,
    until: connection.received,
    closed: connection.closed(),
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
