import { hash } from 'node:crypto'
import { Document } from '@agent-server/schemas/document.ts'
import type { ApiKeyCreated } from '@agent-server/schemas/operator/api-key.ts'
import { describe, expect, it } from 'vitest'
import { failureOf } from '../support/failure.ts'
import { requester, startServer } from '../support/server.ts'
import { startTokenIssuer } from '../support/token-issuer.ts'

const issuer = await startTokenIssuer()
const server = await startServer({
  OIDC_ISSUER: issuer.url,
  OIDC_CLIENT_ID: 'agent',
  OIDC_ADMIN_GROUP: 'admins',
})
const administrator = async (sub = 'root') =>
  requester(server.url, await issuer.sign({ sub, groups: ['admins'] }))

const basedOn = hash('sha256', '')

describe('An administrator by group is not the server key', () => {
  it.each([
    [
      'change the server key',
      'PATCH',
      '/admin/settings',
      { basedOn, set: { SERVER_API_KEY: 'x'.repeat(32) } },
    ],
    [
      'change an address',
      'PATCH',
      '/admin/settings',
      { basedOn, set: { CHAT_BASE_URL: 'http://evil.example' } },
    ],
    ['stop the server', 'POST', '/admin/stop', undefined],
    ['make a key that administers', 'POST', '/admin/keys', { name: 'a', scopes: ['admin'] }],
    ['make a key for a person', 'POST', '/admin/keys', { name: 'a', scopes: ['query', 'act-as'] }],
  ])('and cannot %s', async (_case, method, path, body) => {
    const failure = await failureOf(await (await administrator())(path, { method, body }))
    expect(failure).toMatchObject({ status: 403, code: 'insufficient_scope' })
  })

  it('and cannot change what the agent runs', async () => {
    const text = JSON.stringify({ mcpServers: { own: { url: 'https://evil.example/mcp' } } })
    const root = await administrator()
    const body = { text, basedOn }
    const failure = await failureOf(await root('/admin/agent', { method: 'PUT', body }))
    expect(failure).toMatchObject({ status: 403, code: 'insufficient_scope' })
  })
})

it('A document that an administrator takes out of a collection is theirs', async () => {
  const root = await administrator()
  const id = await server.ingest({ title: 'Plans', text: 'A plan.', collection: 'plans' })
  const creator = async () => Document.parse(await (await root(`/documents/${id}`)).json()).creator
  expect(await creator()).toBeUndefined()
  const move = (collection: string | null) =>
    root(`/documents/${id}`, { method: 'PATCH', body: { metadata: { collection } } })
  expect((await move('drafts')).status).toBe(200)
  expect(await creator()).toBeUndefined()
  expect((await move(null)).status).toBe(200)
  expect(await creator()).toBe('user:root')
})

it('A key that an administrator made names them, and goes with them', async () => {
  const root = await administrator('leaver')
  const body = { name: 'site', scopes: ['query'] }
  const { id, createdBy, secret } = (await (
    await root('/admin/keys', { body })
  ).json()) as ApiKeyCreated
  expect(createdBy).toBe('user:leaver')
  const site = requester(server.url, secret)
  expect((await site('/documents')).status).toBe(200)
  const path = '/admin/people/user:leaver'
  const removal = await server.request(path, { method: 'DELETE' })
  expect(await removal.json()).toMatchObject({ removed: { keys: 1 } })
  expect((await site('/documents')).status).toBe(401)
  const { keys } = (await (await server.request('/admin/keys')).json()) as {
    keys: { id: string }[]
  }
  expect(keys.map((key) => key.id)).not.toContain(id)
})
