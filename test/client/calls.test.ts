import { expect, expectTypeOf, it, vi } from 'vitest'
import {
  AgentServerError,
  ConflictError,
  type CreateDocument,
  type ErrorCode,
  type QueryRequest,
} from '../../packages/client/src/agent-server.ts'
import { clientOf } from '../support/client.ts'
import { startServer } from '../support/server.ts'

const server = await startServer()
const client = clientOf(server)
const documents = [
  { id: 'owls', text: 'Owls hunt at night.' },
  { id: 'geese', text: 'Geese fly south.' },
]
await client.documents.batch(documents)
for (const { id } of documents) await client.documents.waitUntilReady(id)

it('A list that is awaited is its first page, and still all pages to a loop', async () => {
  const list = client.documents.list({ limit: 1, total: true })
  const first = await list
  expect(first).toMatchObject({ items: [{ id: expect.any(String) }], total: 2 })
  expect((await list.page(first.nextCursor)).items[0]?.id).not.toBe(first.items[0]?.id)
  expect(await Array.fromAsync(list, ({ id }) => id)).toHaveLength(2)
  await expect(client.documents.chunks('none')).rejects.toMatchObject({ status: 404 })
})

it('Every call tells status, headers and request id in the same words', async () => {
  const calls = [
    client.query('owls'),
    client.documents.list(),
    client.documents.text('owls'),
    client.admin.metrics(),
    client.chat('When do owls hunt?'),
  ]
  for (const call of calls) {
    const { data, status, headers, response, requestId } = await call.withResponse()
    expect([status, headers.get('x-request-id')]).toEqual([200, requestId])
    expect([data, requestId, response.status]).toEqual([
      expect.anything(),
      expect.stringMatching(/./),
      200,
    ])
  }
})

it('The text of a document that has none yet is a conflict, as long as it is in process', async () => {
  const idle = clientOf(await startServer({}, { begin: false }))
  const waiting = [
    await idle.documents.create({ text: 'Owls hunt.' }),
    await idle.documents.upload(new Blob(['Owls hunt.']), { name: 'owls.txt' }),
    await idle.documents.replace('own', { text: 'Owls hunt.' }),
  ]
  for (const { id } of waiting) {
    const error = await idle.documents.text(id).catch((failure: unknown) => failure)
    expect(error).toBeInstanceOf(ConflictError)
    expect(error).toMatchObject({ status: 409, code: 'document_not_ready' })
  }
  await expect(idle.documents.text('none')).rejects.toMatchObject({ status: 404 })
})

it('Shows what the server does not know on the console, once, unless told not to', async () => {
  const shown = vi.spyOn(console, 'warn').mockImplementation(() => undefined)
  try {
    const misspelt: QueryRequest & { top_k: number } = { query: 'owls', top_k: 1 }
    const untitled: CreateDocument & { titel: string } = { text: 'Rails hide.', titel: 'Rails' }
    const talking = clientOf(server)
    await talking.query(misspelt)
    await talking.query(misspelt)
    await talking.documents.create(untitled)
    await talking.query('owls')
    expect(shown.mock.calls.flat()).toEqual([
      'agent-server-client: POST /query: unknown fields: top_k',
      'agent-server-client: POST /documents: unknown fields: titel',
    ])
    await clientOf(server, { warnings: false }).query(misspelt)
    vi.stubEnv('NODE_ENV', 'production')
    await clientOf(server).query(misspelt)
    expect(shown).toHaveBeenCalledTimes(2)
  } finally {
    vi.unstubAllEnvs()
    shown.mockRestore()
  }
})

it('Codes of errors have a type, of which newer ones are no violation', () => {
  const { code } = new AgentServerError('No.', { code: 'one_of_tomorrow' })
  expect(code).toBe('one_of_tomorrow')
  expectTypeOf<'document_not_ready'>().toExtend<ErrorCode>()
  expectTypeOf<ErrorCode>().not.toExtend<'document_not_ready'>()
  expectTypeOf<'one_of_tomorrow'>().not.toExtend<ErrorCode>()
  expectTypeOf<ErrorCode>().toExtend<typeof code>()
})
