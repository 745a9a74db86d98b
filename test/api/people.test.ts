import { AuditEntry } from '@agent-server/schemas/operator/audit.ts'
import { KnownPerson, PeopleList, PersonRemoved } from '@agent-server/schemas/operator/people.ts'
import { QueryResponse } from '@agent-server/schemas/query.ts'
import { describe, expect, it } from 'vitest'
import { readPage, shellBlocks } from '../docs/pages.ts'
import { failureOf } from '../support/failure.ts'
import { requester, startServer, TEST_KEY } from '../support/server.ts'
import { hasProgram, openShell } from '../support/shell.ts'
import { temporaryDirectory } from '../support/temporary-files.ts'
import { startTokenIssuer } from '../support/token-issuer.ts'

const issuer = await startTokenIssuer()
const server = await startServer({ OIDC_ISSUER: issuer.url, OIDC_CLIENT_ID: 'agent' })

const asPerson = async (sub: string, claims: Record<string, unknown> = {}) =>
  requester(server.url, await issuer.sign({ sub, ...claims }))

async function everybody() {
  const response = await server.request('/admin/people')
  return PeopleList.parse(await response.json()).people
}

const remove = async (id: string, query = '') =>
  server.request(`/admin/people/${encodeURIComponent(id)}${query}`, { method: 'DELETE' })

describe('The people who were here', () => {
  it('are listed as they are now, whether they came with a token or by a program', async () => {
    await (await asPerson('ada', { name: 'Ada', groups: ['staff'] }))('/v1/models')
    await (await asPerson('ada', { name: 'Ada King', email: 'king@example.org' }))('/v1/models')
    await server.request('/v1/models', { headers: { 'agent-user': 'ada' } })
    const headers = { 'agent-user': 'bob', 'agent-user-groups': 'drivers' }
    await server.request('/v1/models', { headers })
    expect(await everybody()).toMatchObject([
      { id: 'user:ada', name: 'Ada King', email: 'king@example.org', groups: [] },
      { id: 'user:bob', groups: ['drivers'] },
    ])
  })

  it('come in pages', async () => {
    const first = PeopleList.parse(await (await server.request('/admin/people?limit=1')).json())
    const path = `/admin/people?limit=1&cursor=${first.nextCursor}`
    const second = PeopleList.parse(await (await server.request(path)).json())
    expect([...first.people, ...second.people].map(({ id }) => id)).toEqual([
      'user:ada',
      'user:bob',
    ])
    expect(second.nextCursor).toBeUndefined()
  })
})

describe('Removing a person', () => {
  it('says what is theirs, and takes it, and nothing else', async () => {
    const [leaver, other] = [await asPerson('leaver'), await asPerson('other')]
    for (const request of [leaver, leaver, other]) {
      expect((await request('/v1/conversations', { body: {} })).status).toBe(200)
    }
    const planned = PersonRemoved.parse(await (await remove('user:leaver', '?dryRun=true')).json())
    const removed = {
      sessions: 0,
      conversations: 2,
      documents: 0,
      feedback: 0,
      artifacts: 0,
      keys: 0,
      accounts: 0,
    }
    const handedOn = { documents: 0, collections: 0 }
    expect(planned).toEqual({ id: 'user:leaver', dryRun: true, removed, handedOn })
    const done = PersonRemoved.parse(await (await remove('user:leaver')).json())
    expect(done).toEqual({ id: 'user:leaver', dryRun: false, removed, handedOn })
    expect(await failureOf(await remove('user:leaver'))).toMatchObject({
      status: 404,
      code: 'person_not_found',
    })
    expect((await everybody()).map(({ id }) => id)).not.toContain('user:leaver')
    const kept = PersonRemoved.parse(await (await remove('user:other', '?dryRun=true')).json())
    expect(kept.removed.conversations).toBe(1)
  })

  it('hands on what they have added, and leaves them nothing of it', async () => {
    const [author, heir] = [await asPerson('author'), await asPerson('heir')]
    await heir('/v1/models')
    const created = await author('/documents?wait=20', { body: { text: 'A plan of herons.' } })
    const { id } = (await created.json()) as { id: string }
    expect((await heir(`/documents/${id}`)).status).toBe(404)
    const done = PersonRemoved.parse(
      await (await remove('user:author', '?handTo=user:heir')).json(),
    )
    expect(done.handedOn).toEqual({ to: 'user:heir', documents: 1, collections: 0 })
    const found = await heir('/query', { body: { query: 'herons' } })
    expect(QueryResponse.parse(await found.json()).hits).toMatchObject([{ documentId: id }])
    expect((await author(`/documents/${id}`)).status).toBe(404)
    const wrong = await failureOf(await remove('user:heir', '?handTo=everybody'))
    expect(wrong).toMatchObject({ status: 400, param: 'handTo' })
  })

  it('is for administrators alone', async () => {
    const failure = await failureOf(
      await (await asPerson('ada'))('/admin/people/user:ada', { method: 'DELETE' }),
    )
    expect(failure).toMatchObject({ status: 403, code: 'insufficient_scope' })
  })

  it('lets them come back as somebody new', async () => {
    await (await asPerson('back'))('/v1/models')
    await remove('user:back')
    await (await asPerson('back'))('/v1/models')
    expect((await everybody()).map(({ id }) => id)).toContain('user:back')
  })
})

it.skipIf(!hasProgram('curl'))(
  'The commands of the guide work as they are (needs curl)',
  async () => {
    const shell = openShell(await temporaryDirectory())
    const token = await issuer.sign({ sub: '7c1e' })
    await shell.paste(`export URL=${server.url} KEY=${TEST_KEY} TOKEN=${token}`)
    const blocks = shellBlocks(readPage('docs/guides/people.md'))
    const [query = '', log = '', limits = '', removal = ''] = [
      '$URL/query',
      '$URL/admin/audit',
      'PATCH "$URL/admin/people',
      'DELETE "$URL/admin/people',
    ].map((part) => blocks.find((block) => block.includes(part)))
    expect(QueryResponse.parse(JSON.parse(await shell.paste(query))).hits).toEqual([])
    await server.request('/admin/keys', { body: { name: 'A key', scopes: ['query'] } })
    const lines = (await shell.paste(log)).split('\n').filter(Boolean)
    const actions = lines.map((line) => AuditEntry.parse(JSON.parse(line)).action)
    expect(actions).toContain('createApiKey')
    const { tokensPerDay } = KnownPerson.parse(JSON.parse(await shell.paste(limits)))
    expect(tokensPerDay).toBe(500_000)
    expect(PersonRemoved.parse(JSON.parse(await shell.paste(removal)))).toMatchObject({
      id: 'user:7c1e',
      dryRun: true,
    })
  },
)
