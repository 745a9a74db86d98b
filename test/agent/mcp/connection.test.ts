import { createGuardedFetch } from '@agent-server/lib/outbound/guarded-fetch.ts'
import { createOutboundPolicy } from '@agent-server/lib/outbound/policy.ts'
import { expect, it, onTestFinished } from 'vitest'
import { Connection } from '../../../src/agent/mcp/connection.ts'
import { toSessionTarget } from '../../../src/agent/mcp/session.ts'
import { McpServers } from '../../../src/agent/mcp/settings.ts'
import { startModernServer } from '../../support/mcp-servers.ts'
import { serverThat } from './remote-server-for-test.ts'

it('A connection that is closed while it is being made keeps no session', async () => {
  const { url } = await startModernServer(serverThat(async () => 'done'))
  const { one } = McpServers.parse({ one: { url } })
  if (!one) throw new Error('There are no settings')
  const outbound = createGuardedFetch(createOutboundPolicy(['127.0.0.1']), {
    maxBytes: 1_000_000,
    idleMs: 60_000,
  })
  onTestFinished(() => outbound.close())
  const [listed, compared] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const connection = new Connection({
    name: 'one',
    target: () => toSessionTarget(one, {}, outbound.fetch),
    onTools() {
      listed.resolve()
      return compared.promise
    },
    log: { info: () => undefined, warn: () => undefined },
  })
  const connecting = expect(connection.prove(0)).rejects.toThrow('shutting down')
  await listed.promise
  await connection.close()
  compared.resolve()
  await connecting
  expect(connection.session).toBeUndefined()
})
