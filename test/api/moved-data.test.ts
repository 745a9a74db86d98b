import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { operationsOf, readContract } from '../support/contract.ts'
import { failureOf } from '../support/failure.ts'
import { CALLS, OF_THE_SERVER, pathOf } from '../support/fairness/calls.ts'
import { sendFile } from '../support/forms.ts'
import { onlyLong } from '../support/long.ts'
import { startServer } from '../support/server.ts'
import { temporaryDirectory } from '../support/temporary-files.ts'

/** Starts a sandbox, which has no part in it. */
const SLOW = ['verifySandbox', 'trySandbox']

it(
  'A data directory that is moved away while the server runs is told as an unavailable store',
  onlyLong,
  async () => {
    const base = await temporaryDirectory()
    const directory = join(base, 'data')
    const server = await startServer({ DATA_DIR: directory })
    const id = await server.ingest({ title: 'Owls', text: 'Owls hoot.' })
    await rename(directory, join(base, 'away'))
    const writes = {
      document: () => server.request('/documents', { body: { text: 'More.' } }),
      file: () => sendFile(server, { name: 'a.txt', bytes: 'Text.' }),
      change: () =>
        server.request(`/documents/${id}`, { method: 'PATCH', body: { title: 'Other' } }),
      removal: () => server.request(`/documents/${id}`, { method: 'DELETE' }),
      conversation: () => server.request('/v1/conversations', { body: {} }),
      key: () => server.request('/admin/keys', { body: { name: 'A key', scopes: ['query'] } }),
    }
    for (const [what, write] of Object.entries(writes)) {
      const { status, code } = await failureOf(await write())
      expect([what, status, code]).toEqual([what, 503, 'store_unavailable'])
    }
    expect((await fetch(`${server.url}/health`)).status).toBe(200)
    const unknown = { isWide: false, file: id, title: 'Owls', text: 'Owls.' }
    const none = { conversation: 'x', answered: 'x', answer: 'x', response: 'x', artifact: 'x' }
    for (const operation of operationsOf(await readContract(server))) {
      const { operationId = '', method, requestBody } = operation
      if ([...OF_THE_SERVER, ...SLOW].includes(operationId)) continue
      const has = { ...unknown, ...none, document: id }
      const { path = pathOf(operation, has), body, headers } = CALLS[operationId]?.(has) ?? {}
      const answer = await server.request(path, {
        method,
        body: body ?? (requestBody && {}),
        ...(headers && { headers }),
      })
      expect([operationId, await answer.text()]).toEqual([
        operationId,
        expect.not.stringMatching(/"FST_|"internal"/),
      ])
    }
    await rename(join(base, 'away'), directory)
  },
)
