import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { closeAfterUse } from './close-after-use.ts'

/** `cut` ends what is connected and refuses what comes; `stall` takes everything and passes nothing on. */
export type ProxyMode = 'pass' | 'cut' | 'stall'

export interface TcpProxy {
  port: number
  set(mode: ProxyMode): void
  /** Ends every connection as soon as the client has sent so many bytes from now on. */
  cutAfter(bytes: number): void
}

/** Stands between a client and a server on the loopback, and misbehaves when it is told to; ends with the test. */
export async function startTcpProxy(target: { host: string; port: number }): Promise<TcpProxy> {
  const sockets = new Set<Socket>()
  let mode: ProxyMode = 'pass'
  let left = Number.POSITIVE_INFINITY

  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  const join = (client: Socket) => {
    if (mode === 'cut') return client.destroy()
    const upstream = connect(target.port, target.host)
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from)
      from.on('error', () => to.destroy())
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
      from.on('data', (bytes) => {
        if (mode === 'stall') return
        to.write(bytes)
        if (from === client) left -= bytes.length
        if (left < 0) cut()
      })
    }
    return undefined
  }

  const server = createServer(join).listen(0, '127.0.0.1')
  await once(server, 'listening')
  closeAfterUse(() => {
    cut()
    server.close()
  })
  return {
    port: portOf(server.address()),
    set(next) {
      mode = next
      if (next === 'cut') cut()
      left = Number.POSITIVE_INFINITY
    },
    cutAfter(bytes) {
      left = bytes
    },
  }
}

function portOf(address: AddressInfo | string | null): number {
  if (typeof address === 'object' && address) return address.port
  throw new Error('The proxy has no port')
}
