import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Targets } from './sandbox.attacks.ts'

export interface Host extends Targets {
  /** Connections that reached a server of the host. */
  readonly connections: number
  close(): Promise<void>
}

/** Lays out on this machine what attacks aim at: a file, an environment variable, servers. */
export async function layOutTargets(): Promise<Host> {
  const secret = `secret-${randomUUID()}`
  const directory = await mkdtemp(join(tmpdir(), 'agent-server-target-'))
  await chmod(directory, 0o777)
  const path = join(directory, 'secret.txt')
  await writeFile(path, secret)
  await chmod(path, 0o666)
  process.env.SANDBOX_TEST_SECRET = secret
  let connections = 0
  const count = () => {
    connections += 1
  }
  const socket = join(directory, 'socket')
  const [tcp, unix, abstract] = [createServer(count), createServer(count), createServer(count)]
  const port = await listen(tcp)
  await listen(unix, socket)
  await chmod(socket, 0o777)
  await listen(abstract, `\0${socket}`)

  return {
    secret,
    path,
    port,
    socket,
    get connections() {
      return connections
    },
    async close() {
      delete process.env.SANDBOX_TEST_SECRET
      for (const server of [tcp, unix, abstract]) server.close()
      await rm(directory, { recursive: true })
    },
  }
}

async function listen(server: Server, path?: string): Promise<number> {
  if (path === undefined) server.listen(0, '127.0.0.1')
  else server.listen(path)
  await once(server, 'listening')
  const address = server.address()
  return typeof address === 'object' && address ? address.port : 0
}

/** The processes of this machine, those in containers included, whose command line holds `mark`. */
export async function processesWith(mark: string): Promise<string[]> {
  const names = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const lines = await Promise.all(
    names.map((name) => readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '')),
  )
  return lines.filter((line) => line.includes(mark))
}
