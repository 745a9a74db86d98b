import { setImmediate as nextTurn } from 'node:timers/promises'
import { freeAllMemory } from '@agent-server/lib/processes/free-memory.ts'
import { expect, it } from 'vitest'
import { listDocuments, search } from '../support/knowledge.ts'
import { startServer } from '../support/server.ts'

/** Held by the server alone. */
class ServerTrace {
  readonly server: unknown

  constructor(server: unknown) {
    this.server = server
  }
}

it('A server that is closed stays in no memory: another may follow it in the same process', async () => {
  const seen: WeakRef<ServerTrace>[] = []
  const server = await startServer(
    {},
    {
      beforeListen(app) {
        const trace = new ServerTrace(app)
        Object.assign(app, { serverTrace: trace })
        seen.push(new WeakRef(trace))
      },
    },
  )
  await server.ingest({ text: 'Owls hoot.' })
  expect(await search(server, 'owls')).toHaveLength(1)
  expect((await listDocuments(server)).documents).toHaveLength(1)
  await server.close()
  const held = async () => {
    await nextTurn()
    freeAllMemory()
    return seen.filter((trace) => trace.deref()).length
  }
  expect(seen).toHaveLength(1)
  await expect.poll(held).toBe(0)
})
