import { ApiKeyCreated } from '@agent-server/schemas/operator/api-key.ts'
import { QueryResponse } from '@agent-server/schemas/query.ts'
import { describe, expect, it } from 'vitest'
import { readPage, shellBlocks } from '../docs/pages.ts'
import { failureOf } from '../support/failure.ts'
import { requester, startServer, TEST_KEY } from '../support/server.ts'
import { hasProgram, openShell } from '../support/shell.ts'
import { temporaryDirectory } from '../support/temporary-files.ts'

const server = await startServer()

async function keyWith(...scopes: string[]) {
  const body = { name: 'A back end', scopes }
  const created = await server.request('/admin/keys', { body })
  return requester(server.url, ApiKeyCreated.parse(await created.json()).secret)
}

const trusted = await keyWith('query', 'chat', 'ingest', 'admin', 'act-as')
const ada = { 'agent-user': 'ada', 'agent-user-groups': 'staff, r%C3%A9daction, a%2Cb' }

describe('A key with the scope act-as', () => {
  it('speaks for the person in the header, whose conversations are their own', async () => {
    const created = await trusted('/v1/conversations', { body: {}, headers: ada })
    expect(created.status).toBe(200)
    const { id } = (await created.json()) as { id: string }
    const path = `/v1/conversations/${id}`
    expect((await trusted(path, { headers: { 'agent-user': 'ada' } })).status).toBe(200)
    for (const headers of [{ 'agent-user': 'bob' }, { 'agent-user': 'Ada' }, {}]) {
      expect(await failureOf(await trusted(path, { headers }))).toMatchObject({
        code: 'conversation_not_found',
      })
    }
    const master = await server.request(path, { headers: { 'agent-user': 'ada' } })
    expect(master.status).toBe(200)
  })

  it.each(['/admin/keys', '/metrics'])('never administers for a person: %s', async (path) => {
    for (const request of [trusted, server.request]) {
      const failure = await failureOf(await request(path, { headers: ada }))
      expect(failure).toMatchObject({ status: 403, code: 'insufficient_scope' })
    }
    expect((await trusted('/admin/keys')).status).toBe(200)
  })

  it.each([
    ['an empty id', { 'agent-user': '' }],
    ['groups without a person', { 'agent-user-groups': 'staff' }],
    ['two people', { 'agent-user': 'ada, bob' }],
    ['an id of 256 characters', { 'agent-user': 'a'.repeat(256) }],
    ['an id that is not percent-encoded UTF-8', { 'agent-user': '%E9' }],
    ['an id in Latin-1', { 'agent-user': 'ren\u00e9' }],
    ['an encoded line break', { 'agent-user': 'ada%0A' }],
    ['an encoded space alone', { 'agent-user': '%20' }],
  ])('is told what is wrong with %s', async (_case, headers) => {
    const failure = await failureOf(await trusted('/documents', { headers }))
    expect(failure).toMatchObject({ status: 400, code: 'invalid_request' })
    expect(failure.param).toMatch(/^Agent-User/)
  })

  it.each([
    ['201 groups', Array.from({ length: 201 }, (_, number) => `g${number}`).join()],
    ['a group of 201 characters', 'g'.repeat(201)],
    ['a group with a NUL', 'g%00'],
  ])('is told what is wrong with %s', async (_case, groups) => {
    const headers = { 'agent-user': 'ada', 'agent-user-groups': groups }
    const failure = await failureOf(await trusted('/documents', { headers }))
    expect(failure).toMatchObject({ status: 400, param: 'Agent-User-Groups' })
  })
})

it.each([['/documents'], ['/v1/models'], ['/unknown']])(
  'A key without act-as speaks for nobody at %s, and is told the scope',
  async (path) => {
    const request = await keyWith('query', 'chat', 'ingest', 'admin')
    for (const headers of [ada, { 'agent-user-groups': 'staff' }]) {
      const failure = await failureOf(await request(path, { headers }))
      expect(failure).toMatchObject({ status: 403, code: 'insufficient_scope' })
      expect(failure.message).toContain('"act-as"')
    }
  },
)

it('A person for whom a program may do nothing was not here', async () => {
  const request = await keyWith('query', 'act-as')
  const people = async () =>
    JSON.stringify(await (await server.request('/admin/people?limit=100')).json())
  const headers = { 'agent-user': 'ghost' }
  const refused = await request('/documents', { method: 'POST', body: { text: 'x' }, headers })
  expect(refused.status).toBe(403)
  expect(await people()).not.toContain('user:ghost')
  expect((await request('/query', { body: { query: 'x' }, headers })).status).toBe(200)
  expect(await people()).toContain('user:ghost')
})

it('A key without act-as cannot create one with it', async () => {
  const request = await keyWith('admin', 'query')
  const body = { name: 'More', scopes: ['act-as'] }
  const failure = await failureOf(await request('/admin/keys', { body }))
  expect(failure).toMatchObject({ status: 403, param: 'scopes' })
})

it.skipIf(!hasProgram('curl'))('The command of the guide works as it is (needs curl)', async () => {
  const shell = openShell(await temporaryDirectory())
  await shell.paste(`export URL=${server.url} KEY=${TEST_KEY}`)
  const block = shellBlocks(readPage('docs/guides/keys.md')).find((text) =>
    text.includes('Agent-User'),
  )
  expect(QueryResponse.parse(JSON.parse(await shell.paste(block ?? ''))).hits).toEqual([])
})
