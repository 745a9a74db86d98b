import { createEncryption } from '@agent-server/lib/encrypted.ts'
import { createAccessTokens, createCompanySignIn, createIssuer } from '@agent-server/oidc'
import type { OpenedStore } from '@agent-server/stores'
import { expect, it } from 'vitest'
import { useSqliteStores } from '../../../packages/stores/test/sqlite/store-data.ts'
import { createCompanyAccounts } from '../../../src/operator/people/company-accounts.ts'
import { createPeople } from '../../../src/operator/people/people.ts'
import { createPersonSessions } from '../../../src/operator/people/person-sessions.ts'
import { long, someOf } from '../../support/long.ts'
import { startTokenIssuer } from '../../support/token-issuer.ts'

const openSqliteStore = useSqliteStores()

const MINUTE = 60_000
const issuer = await startTokenIssuer()
const settings = {
  issuer: issuer.url,
  clientId: 'agent',
  audience: 'api',
  takesIdTokens: false,
  scopes: 'openid',
  subjectClaim: 'oid',
  groupsClaim: 'groups',
}

/** The sessions of one server, whose clock is set by hand; the issuer and the database are real. */
async function openSessions(store?: OpenedStore, realm = 'one') {
  let ahead = 0
  const now = () => Date.now() + ahead
  const shared = store ?? (await openSqliteStore())
  const signIn = createCompanySignIn(createIssuer(settings, now))
  const people = createPeople({ store: shared.people, tokens: undefined, now })
  const sessions = createPersonSessions({
    store: shared.sessions,
    signIn,
    people,
    encryption: createEncryption('key', realm),
    serverApiKey: 'key',
    realm,
    adminGroup: 'admins',
    now,
  })
  const begin = async (groups: string[], issuerSession?: string) =>
    sessions.begin({
      person: { id: 'user:other-claim', groups, isAdministrator: false },
      email: undefined,
      subject: 'ada',
      issuerSession,
      tokens: { idToken: await issuer.sign(), refreshToken: 'r' },
    })
  const accounts = createCompanyAccounts({
    signIn,
    tokens: createAccessTokens(createIssuer(settings)),
    sessions,
    store: shared.sessions,
    encryption: createEncryption('key', 'sign-in'),
  })
  const wait = (ms: number) => {
    ahead += ms
  }
  return { store: shared, sessions, accounts, begin, wait }
}

const tokens = async (claims: Record<string, unknown>) => ({
  body: {
    access_token: 'a',
    token_type: 'bearer',
    refresh_token: 'next',
    id_token: await issuer.sign({ oid: 'other-claim', ...claims }),
  },
})
const down = async () => ({ status: 503, type: 'text/html', body: 'down' })
const unavailable = expect.objectContaining({ code: 'issuer_unavailable' })

it('Groups count for an hour after the issuer has told them, however many requests come meanwhile', async () => {
  const { sessions, begin, wait } = await openSessions()
  const session = await begin(['admins'])
  issuer.answer('/token', down)
  wait(50 * MINUTE)
  expect((await sessions.callerOf(session))?.person?.isAdministrator).toBe(true)
  wait(20 * MINUTE)
  for (let request = 0; request < 3; request += 1) {
    await expect(sessions.callerOf(session)).rejects.toEqual(unavailable)
  }
  issuer.answer('/token', () => tokens({ groups: [] }))
  wait(MINUTE)
  const callers = await Promise.all([1, 2, 3].map(() => sessions.callerOf(session)))
  expect(callers.map((caller) => caller?.person?.groups)).toEqual([[], [], []])
})

it.each([
  ['403 with a page', { status: 403, type: 'text/html', body: '<h1>Disabled</h1>' }],
  ['401 with a page', { status: 401, type: 'text/html', body: '' }],
  ['400 invalid_grant', { status: 400, body: { error: 'invalid_grant' } }],
])('A person whom the issuer refuses with %s is signed out', async (_case, reply) => {
  const { sessions, begin, wait } = await openSessions()
  const session = await begin([])
  issuer.answer('/token', async () => reply)
  wait(11 * MINUTE)
  expect(await sessions.callerOf(session)).toBeUndefined()
})

it.each(
  someOf(
    [
      ['429', { status: 429, type: 'text/plain', body: 'slow down' }],
      ['429 as JSON', { status: 429, body: { error: 'invalid_request' } }],
      ['408', { status: 408, type: 'text/plain', body: '' }],
      ['401 invalid_client', { status: 401, body: { error: 'invalid_client' } }],
      ['502 with a page', { status: 502, type: 'text/html', body: '' }],
      ['200 with a page', { type: 'text/html', body: '<h1>Maintenance</h1>' }],
    ],
    2,
  ),
)('An answer of %s, which is not about the person, ends no session', long, async (_case, reply) => {
  const { sessions, begin, wait } = await openSessions()
  const session = await begin([])
  issuer.answer('/token', async () => reply)
  wait(11 * MINUTE)
  expect(await sessions.callerOf(session)).toBeDefined()
})

it('What goes on under a session stops when the groups change', async () => {
  const { sessions, begin, wait } = await openSessions()
  const caller = await sessions.callerOf(await begin(['admins', 'staff']))
  issuer.answer('/token', () => tokens({ groups: ['staff', 'admins'] }))
  wait(11 * MINUTE)
  await caller?.verify()
  issuer.answer('/token', () => tokens({ groups: ['staff'] }))
  wait(11 * MINUTE)
  await expect(caller?.verify()).rejects.toMatchObject({ code: 'unauthorized' })
})

it('Groups that only the ID token names are not taken for none when no other comes', async () => {
  const { sessions, begin, wait } = await openSessions()
  const [member, nobody] = [await begin(['staff']), await begin([])]
  issuer.answer('/token', async () => ({ body: { access_token: 'a', token_type: 'bearer' } }))
  issuer.answer('/userinfo', async () => ({ body: { sub: 'ada', oid: 'other-claim' } }))
  wait(11 * MINUTE)
  expect(await sessions.callerOf(member)).toBeUndefined()
  expect((await sessions.callerOf(nobody))?.person?.groups).toEqual([])
})

it('Who signs out while the issuer is asked stays signed out', async () => {
  const { sessions, begin, wait } = await openSessions()
  const session = await begin([])
  issuer.answer('/token', async () => {
    await sessions.end(session)
    return tokens({})
  })
  wait(11 * MINUTE)
  expect(await sessions.callerOf(session)).toBeUndefined()
})

it('A person who was removed on another server signs in again', async () => {
  const one = await openSessions()
  const other = await openSessions(one.store)
  await other.begin([])
  await one.store.people.remove('user:other-claim')
  const session = await other.begin(['staff'])
  expect((await one.sessions.callerOf(session))?.person?.groups).toEqual(['staff'])
})

it('A session does not count with another issuer or client', async () => {
  const one = await openSessions()
  const other = await openSessions(one.store, 'other')
  expect(await other.sessions.callerOf(await one.begin([]))).toBeUndefined()
})

const LOGOUT = { 'http://schemas.openid.net/event/backchannel-logout': {} }
const logout = (claims: Record<string, unknown>) =>
  issuer.sign({ jti: '1', events: LOGOUT, ...claims }, { typ: 'logout+jwt' })

it.each(
  someOf(
    [
      ['by its name ends that one', { sid: 's1' }, [false, true, true]],
      [
        'by its name and the subject, also what has no name',
        { sid: 's1', sub: 'ada' },
        [false, true, false],
      ],
      [
        'by the subject alone, all of theirs',
        { sub: 'ada', sid: undefined },
        [false, false, false],
      ],
      ['of somebody else, none', { sub: 'other-claim' }, [true, true, true]],
    ],
    2,
  ),
)(
  'A sign-out elsewhere %s, whatever claim identifies people here',
  long,
  async (_case, claims, open) => {
    const { sessions, accounts, begin } = await openSessions()
    const all = [await begin([], 's1'), await begin([], 's2'), await begin([])]
    await accounts.signedOutElsewhere(await logout({ sub: undefined, ...claims }))
    const callers = await Promise.all(all.map((session) => sessions.callerOf(session)))
    expect(callers.map((caller) => caller !== undefined)).toEqual(open)
  },
)

it.each([
  ['an end', { exp: undefined }],
  ['an identifier', { jti: undefined }],
  ['the event', { events: {} }],
])('A sign-out elsewhere without %s is refused', async (_case, claims) => {
  const { accounts } = await openSessions()
  const token = await logout(claims)
  await expect(accounts.signedOutElsewhere(token)).rejects.toMatchObject({ code: 'unauthorized' })
})
