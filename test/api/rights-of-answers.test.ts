import { DocumentCreated } from '@agent-server/schemas/document.ts'
import { QueryResponse } from '@agent-server/schemas/query.ts'
import { expect, it } from 'vitest'
import { sendFile } from '../support/forms.ts'
import { speakingFor } from '../support/people.ts'
import { startServer } from '../support/server.ts'

const server = await startServer()
const ada = speakingFor(server, { name: 'ada' })
const bob = speakingFor(server, { name: 'bob' })
const eve = speakingFor(server, { name: 'eve' })

async function added(access: readonly string[]) {
  const body = { text: 'The vault opens at nine.', access }
  const created = await ada('/documents?wait=20', { body })
  return DocumentCreated.parse(await created.json()).id
}

it('A person is not told how much a word weighs, since that depends on documents of others', async () => {
  await added([])
  const ask = async (request: typeof ada) => {
    const response = await request('/query', { body: { query: 'vault', explain: true } })
    return QueryResponse.parse(await response.json()).hits[0]
  }
  expect(await ask(server.request)).toHaveProperty('stages')
  expect(await ask(ada)).toBeDefined()
  expect(await ask(ada)).not.toHaveProperty('stages')
})

it('A person is not told how many documents there are, by a program with every right', async () => {
  const ready = async (request: typeof ada) => (await request('/readiness')).text()
  expect(await ready(server.request)).toContain('"documents"')
  expect(await ready(ada)).not.toContain('"documents"')
})

it('Who is left out with a new text loses the old one at once, also if the new one fails', async () => {
  const id = await added(['user:bob', 'user:eve'])
  expect((await eve(`/documents/${id}`)).status).toBe(200)
  const before = { access: JSON.stringify(['user:bob']) }
  const file = { name: 'broken.pdf', bytes: '%PDF-1.7 broken', type: 'application/pdf', before }
  const headers = { 'agent-user': 'ada' }
  const replaced = await sendFile(server, file, {
    method: 'PUT',
    path: `/documents/${id}?wait=30`,
    headers,
  })
  expect(await replaced.json()).toMatchObject({ status: 'failed' })
  expect((await eve(`/documents/${id}`)).status).toBe(404)
  expect((await bob(`/documents/${id}`)).status).toBe(200)
})
