import { ApiKeyCreated } from '@agent-server/schemas/operator/api-key.ts'
import { AuditEntry, AuditPage } from '@agent-server/schemas/operator/audit.ts'
import { describe, expect, it } from 'vitest'
import { openCookieBrowser } from '../support/cookie-browser.ts'
import { failureOf } from '../support/failure.ts'
import { sendFile } from '../support/forms.ts'
import { pdfFile } from '../support/pdf-file.ts'
import { requester, startServer, TEST_KEY } from '../support/server.ts'
import { startTokenIssuer } from '../support/token-issuer.ts'

const SECRET = 'the heron nests in the reeds'

const issuer = await startTokenIssuer()
const settings = { OIDC_ISSUER: issuer.url, OIDC_CLIENT_ID: 'agent', OIDC_ADMIN_GROUP: 'admins' }
const server = await startServer(settings)
const asPerson = async (sub: string, claims: Record<string, unknown> = {}) =>
  requester(server.url, await issuer.sign({ sub, ...claims }))

async function entries(query: Record<string, string> = {}) {
  const path = `/admin/audit?${new URLSearchParams({ limit: '200', ...query })}`
  return AuditPage.parse(await (await server.request(path)).json()).entries
}

describe('The audit log', () => {
  it('tells who changed which document, before the change is acknowledged', async () => {
    const ada = await asPerson('ada')
    const created = await ada('/documents', { body: { title: 'Birds', text: SECRET } })
    const { id } = (await created.json()) as { id: string }
    await ada(`/documents/${id}`, { method: 'PATCH', body: { metadata: { year: 1 } } })
    await ada(`/documents/${id}`, { method: 'DELETE' })
    const ofDocument = (await entries({ target: id })).map(({ action }) => action)
    expect(ofDocument).toEqual(['deleteDocument', 'patchDocument', 'createDocument'])
    for (const target of [id.slice(1), `${id} `, '"', id.toUpperCase()]) {
      expect(await entries({ target })).toEqual([])
    }
    expect(await entries({ who: 'user:ada' })).toMatchObject([
      { action: 'deleteDocument', status: 204, targets: { id } },
      { action: 'patchDocument', targets: { id, fields: ['metadata'] } },
      { action: 'createDocument', address: '127.0.0.1', targets: { id } },
    ])
  })

  it('tells which documents a person has read by search and answers, by their ids alone', async () => {
    const bob = await asPerson('bob')
    const created = await bob('/documents?wait=20', { body: { text: `Herons: ${SECRET}.` } })
    const { id } = (await created.json()) as { id: string }
    const chat = { messages: [{ role: 'user', content: 'Where does the heron nest?' }] }
    expect((await bob('/query', { body: { query: 'heron' } })).status).toBe(200)
    expect(await (await bob('/chat', { body: chat })).text()).toContain('reeds')
    expect((await bob(`/documents/${id}/text`)).status).toBe(200)
    const read = await entries({ who: 'user:bob', action: 'read' })
    expect(read.length).toBeGreaterThanOrEqual(3)
    expect(await entries({ target: id, action: 'read' })).toEqual(read)
    for (const { targets } of read) expect(targets).toEqual({ documents: [id] })
    expect(JSON.stringify(await entries())).not.toContain('reeds')
  })

  it('tells nothing of documents whose covers a search only compares', async () => {
    const token = await issuer.sign({ sub: 'cid' })
    const headers = { authorization: `Bearer ${token}` }
    const send = async (year: number) => {
      const cover = `Annual report ${year} of the Heronry Limited\n${'For sale or for hire.\n'.repeat(90)}`
      const pages = [cover, `${'Herons were counted in the colony.\n'.repeat(30)}In ${year}.`]
      const file = { name: `scan-${year % 10}.pdf`, bytes: pdfFile({ pages }) }
      const sent = await sendFile(server, file, { headers })
      return Object(await sent.json()).id
    }
    const ids = [await send(2030), await send(2031), await send(2032)]
    const query = 'How many herons were counted at the Heronry in 2031?'
    const cid = requester(server.url, token)
    const answer = await cid('/query', { body: { query, topK: 1 } })
    expect(Object(await answer.json()).hits).toMatchObject([{ documentId: ids[1] }])
    const read = await entries({ who: 'user:cid', action: 'read' })
    expect(read.map(({ targets }) => targets)).toEqual([{ documents: [ids[1]] }])
  })

  it('tells who changed keys and settings, without a value of theirs', async () => {
    const body = { name: 'A secret name', scopes: ['query'] }
    const created = await server.request('/admin/keys', { body })
    const { id, secret } = ApiKeyCreated.parse(await created.json())
    await server.request('/admin/settings', {
      method: 'PATCH',
      body: { set: { TOP_K: '7' }, clear: [] },
    })
    await server.request(`/admin/keys/${id}`, { method: 'DELETE' })
    const text = JSON.stringify(await entries({ who: 'master' }))
    for (const hidden of [secret, 'A secret name', '"7"', TEST_KEY])
      expect(text).not.toContain(hidden)
    const actions = (await entries({ who: 'master' })).map(({ action }) => action)
    expect(actions).toEqual(expect.arrayContaining(['createApiKey', 'revokeApiKey']))
  })

  it('tells what was refused, and which program spoke for a person', async () => {
    const ada = await asPerson('ada')
    await ada('/admin/keys', { body: { name: 'x', scopes: ['admin'] } })
    expect(await entries({ action: 'createApiKey', who: 'user:ada' })).toMatchObject([
      { status: 403 },
    ])
    const body = { name: 'Back end', scopes: ['ingest', 'act-as'] }
    const { id, secret } = ApiKeyCreated.parse(
      await (await server.request('/admin/keys', { body })).json(),
    )
    const headers = { 'agent-user': 'eve' }
    await requester(server.url, secret)('/documents', { body: { text: 'Hello.' }, headers })
    expect(await entries({ who: 'user:eve', action: 'createDocument' })).toMatchObject([
      { targets: { by: `key:${id}` } },
    ])
  })

  it('tells of a change whose address says dryRun, unless the route has a trial', async () => {
    const ada = await asPerson('trial')
    await ada('/documents?dryRun=true', { body: { title: 'Made', text: SECRET } })
    await ada('/collections?dryRun=true', { body: { name: 'made-by-trial' } })
    const actions = async (who: string) => (await entries({ who })).map(({ action }) => action)
    expect(await actions('user:trial')).toEqual(['createCollection', 'createDocument'])
    const counted = async () => (await actions('master')).length
    const before = await counted()
    const remove = (path: string) => server.request(path, { method: 'DELETE' })
    expect((await remove('/documents?title=Made&dryRun=true')).status).toBe(200)
    expect((await remove('/admin/people/user:trial?dryRun=true')).status).toBe(200)
    expect(await counted()).toBe(before)
    expect((await remove('/documents?title=Made&confirm=1&dryRun=false')).status).toBe(200)
    expect(await actions('master')).toContain('deleteDocuments')
  })

  it('tells that a conversation is shared, and of no other change of one', async () => {
    const ada = await asPerson('sharer')
    const created = await ada('/v1/conversations', { body: {} })
    const { id } = (await created.json()) as { id: string }
    await ada(`/v1/conversations/${id}`, { body: { title: 'Birds' } })
    await ada(`/v1/conversations/${id}`, { body: { access: ['group:staff'] } })
    expect(await entries({ who: 'user:sharer' })).toMatchObject([
      { action: 'updateConversation', status: 200, targets: { id, fields: ['access'] } },
    ])
  })

  it('tells of sign-ins with the key, failed ones and the end', async () => {
    const browser = openCookieBrowser()
    const signIn = (key: string) =>
      browser.ask(`${server.url}/ui/session`, { method: 'POST', body: JSON.stringify({ key }) })
    await signIn('a-wrong-key-for-tests')
    await signIn(TEST_KEY)
    await browser.ask(`${server.url}/ui/session`, { method: 'DELETE' })
    const [signOut, signedIn] = await entries({ who: 'master' })
    expect([signOut?.action, signedIn?.action]).toEqual(['signOut', 'signIn'])
    expect(await entries({ action: 'signInFailed' })).toMatchObject([
      { who: 'stranger', address: '127.0.0.1', targets: { code: 'unauthorized' } },
    ])
  })

  it('comes in pages, and as lines, of the time that is asked for', async () => {
    const all = await entries()
    const first = AuditPage.parse(await (await server.request('/admin/audit?limit=2')).json())
    const path = `/admin/audit?limit=2&cursor=${first.nextCursor}`
    const second = AuditPage.parse(await (await server.request(path)).json())
    expect([...first.entries, ...second.entries]).toEqual(all.slice(0, 4))
    const response = await server.request('/admin/audit/export?who=user:ada')
    const lines = (await response.text()).trim().split('\n').filter(Boolean)
    expect(lines.map((line) => AuditEntry.parse(JSON.parse(line)).who)).toEqual(
      lines.map(() => 'user:ada'),
    )
    expect(lines.length).toBeGreaterThan(3)
    expect((await entries({ action: 'exportAudit' })).length).toBe(1)
    const at = all[0]?.at ?? ''
    expect(await entries({ until: at, since: '2020-01-01T00:00:00Z' })).not.toContainEqual(all[0])
    expect(await entries({ since: '2099-01-01T00:00:00Z' })).toEqual([])
  })

  it('is neither changed nor deleted by an administrator, nor read by others', async () => {
    const root = await asPerson('root', { groups: ['admins'] })
    const [last] = await entries()
    for (const method of ['DELETE', 'PUT', 'PATCH', 'POST']) {
      for (const path of ['/admin/audit', `/admin/audit/${last?.number}`]) {
        const response = await root(path, { method, body: {} })
        expect([404, 405], `${method} ${path}`).toContain(response.status)
      }
    }
    expect(await entries({ cursor: String((last?.number ?? 0) + 1), limit: '1' })).toEqual([last])
    expect(await failureOf(await (await asPerson('ada'))('/admin/audit'))).toMatchObject({
      code: 'insufficient_scope',
    })
  })

  it('tells of at most twenty failed sign-ins of an address within a minute', async () => {
    const browser = openCookieBrowser()
    const body = JSON.stringify({ token: 'not-a-link-of-this-server' })
    for (let attempt = 0; attempt < 25; attempt += 1) {
      const response = await browser.ask(`${server.url}/ui/session`, { method: 'POST', body })
      expect(response.status).toBe(401)
      await browser.visit(`${server.url}/ui/sign-in/callback?code=x&state=y`)
    }
    expect((await entries({ action: 'signInFailed' })).length).toBe(20)
  })

  it.each([
    ['a list', 'application/json', JSON.stringify([{ text: 'One.' }, { text: 'Two.' }])],
    ['lines', 'application/x-ndjson', '{"text":"One."}\n{"nothing":1}\n{"text":"Two."}\n'],
  ])('names each document that comes in %s', async (kind, type, body) => {
    const who = `user:${kind.replace(' ', '-')}`
    const ada = await asPerson(who.slice(5))
    const response = await ada('/documents/batch', { body, headers: { 'content-type': type } })
    const ids = [...(await response.text()).matchAll(/"id":"([^"]+)"/g)].map(([, id]) => id)
    expect(ids).toHaveLength(2)
    const made = await entries({ who, action: 'createDocuments' })
    expect(made.flatMap(({ targets }) => targets.documents ?? []).toSorted()).toEqual(
      ids.toSorted(),
    )
  })

  it('tells of what comes as a form', async () => {
    await sendFile(server, { name: 'birds.csv', bytes: 'a\n1\n' })
    expect((await entries({ who: 'master' }))[0]).toMatchObject({
      action: 'createDocument',
      targets: { id: expect.any(String) },
    })
  })
})
