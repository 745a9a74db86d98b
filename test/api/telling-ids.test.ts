import { expect, it } from 'vitest'
import { z } from 'zod'
import { operationsOf, readContract } from '../support/contract.ts'
import { type Belongings, CALLS, OF_THE_SERVER, pathOf } from '../support/fairness/calls.ts'
import { requester, startServer } from '../support/server.ts'

const Id = z.looseObject({ id: z.string() })
const Items = z.looseObject({ data: z.array(z.looseObject({ id: z.string() })) })
const Secret = z.looseObject({ secret: z.string() })
/** Of no id; the files of others have tests of their own. */
const OF_NO_ID = ['getCapabilities', 'followEvents', 'getServerState', 'getArtifact']

const server = await startServer()
const post = async (path: string, body: unknown) => {
  const answer = await server.request(path, { body })
  if (!answer.ok) throw new Error(await answer.text())
  return answer.json()
}

/** What the master key has, in a collection that the other key may not read. */
async function makeThings(): Promise<Belongings> {
  await server.request('/documents/theirs?wait=20', {
    method: 'PUT',
    body: { title: 'Quagga', text: 'A quagga.', collection: 'green' },
  })
  const { id: conversation } = Id.parse(await post('/v1/conversations', {}))
  const item = { type: 'message', role: 'user', content: 'Owls?' }
  const { data } = Items.parse(
    await post(`/v1/conversations/${conversation}/items`, { items: [item] }),
  )
  const { id: response } = Id.parse(await post('/v1/responses', { input: 'Owls?' }))
  const answer = data[0]?.id ?? ''
  const own = { document: 'theirs', file: 'theirs', title: 'green', isWide: false, text: 'Newts.' }
  return { ...own, conversation, answered: conversation, answer, response, artifact: response }
}

const existing = await makeThings()
const free: Belongings = {
  ...existing,
  document: 'frees0',
  file: 'frees0',
  title: 'grown',
  conversation: existing.conversation.replace(/.$/, (last) => (last === '0' ? '1' : '0')),
  answer: existing.answer.replace(/.$/, (last) => (last === '0' ? '1' : '0')),
  response: existing.response.replace(/.$/, (last) => (last === '0' ? '1' : '0')),
}
const key = { name: 'Red', scopes: ['query', 'chat', 'ingest'], collections: ['red'] }
const { secret } = Secret.parse(await post('/admin/keys', key))
const request = requester(server.url, secret)
const operations = operationsOf(await readContract(server)).filter(
  ({ path, operationId = '', security = [] }) =>
    ![...OF_THE_SERVER, ...OF_NO_ID].includes(operationId) &&
    (/\{/.test(path) || /ollection/.test(operationId)) &&
    security.some(({ key: scopes = [] }) => !scopes.includes('admin')),
)

/** The status and the words of an answer without the ids that were asked for. */
async function said(operation: (typeof operations)[number], has: Belongings) {
  const { method, operationId = '', requestBody } = operation
  const { path, body, headers } = CALLS[operationId]?.(has) ?? {}
  const names = pathOf(operation, has).replace('/collections/default', `/collections/${has.title}`)
  const answer = await request(path ?? names, {
    method,
    body: body ?? (requestBody && {}),
    ...(headers && { headers }),
  })
  let text = await answer.text()
  for (const id of Object.values(has))
    if (typeof id === 'string' && id) text = text.replaceAll(id, '…')
  return `${answer.status} ${text.replaceAll(/"(request_id|createdAt|created_at|updatedAt)":("[^"]*"|\d+)/g, '')}`
}

it.each(operations)('tells no id of others from a free one: $operationId', async (operation) => {
  expect(await said(operation, existing)).toBe(await said(operation, free))
})
