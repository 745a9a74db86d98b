import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { failureOf } from '../support/failure.ts'
import { long, someOf } from '../support/long.ts'
import { requester, startServer } from '../support/server.ts'
import { startTokenIssuer } from '../support/token-issuer.ts'
import { TOKEN_SHAPES } from '../support/token-shapes.ts'

const issuer = await startTokenIssuer()
const other = await startTokenIssuer()
const settings = { OIDC_ISSUER: issuer.url, OIDC_CLIENT_ID: 'agent', OIDC_ADMIN_GROUP: 'admins' }
const server = await startServer(settings)

const asToken = (token: string) => requester(server.url, token)
const person = async (claims?: Record<string, unknown>) => asToken(await issuer.sign(claims))
const refusal = async (token: string) => failureOf(await asToken(token)('/v1/conversations/conv_1'))

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
const now = () => Math.floor(Date.now() / 1_000)

describe('An access token of the issuer', () => {
  it('lets a person in, to what is theirs', async () => {
    const ada = await person()
    const created = await ada('/v1/conversations', { body: {} })
    expect(created.status).toBe(200)
    const { id } = (await created.json()) as { id: string }
    expect((await (await person())(`/v1/conversations/${id}`)).status).toBe(200)
    const bob = await person({ sub: 'bob' })
    expect((await bob(`/v1/conversations/${id}`)).status).toBe(404)
  })

  it('identifies by the subject: a new name changes nothing, and an address taken over gives nothing', async () => {
    const first = await person({ sub: 's1', name: 'Ada', email: 'ada@example.org' })
    const { id } = (await (await first('/v1/conversations', { body: {} })).json()) as { id: string }
    const renamed = await person({ sub: 's1', name: 'Ada King', email: 'king@example.org' })
    expect((await renamed(`/v1/conversations/${id}`)).status).toBe(200)
    const successor = await person({ sub: 's2', name: 'Ada', email: 'ada@example.org' })
    expect((await successor(`/v1/conversations/${id}`)).status).toBe(404)
  })

  it('administers only with the group of administrators', async () => {
    expect((await (await person({ groups: ['admins'] }))('/admin/keys')).status).toBe(200)
    for (const groups of [[], ['Admins'], ['admins ', 'user:admins']]) {
      const failure = await failureOf(await (await person({ groups }))('/admin/keys'))
      expect(failure).toMatchObject({ status: 403, code: 'insufficient_scope' })
    }
  })

  it('speaks for nobody else, not even an administrator’s', async () => {
    const headers = { 'agent-user': 'bob' }
    for (const groups of [[], ['admins']]) {
      const failure = await failureOf(await (await person({ groups }))('/documents', { headers }))
      expect(failure).toMatchObject({ status: 403, code: 'insufficient_scope' })
    }
  })

  it.each(['/v1/models', '/v1/conversations/conv_1', '/api/tags'])('counts at %s', async (path) => {
    expect((await (await person())(path)).status).not.toBe(401)
    expect((await asToken('a.b.c')(path)).status).toBe(401)
  })

  it('counts at /mcp', async () => {
    const body = { jsonrpc: '2.0', id: 1, method: 'ping' }
    const headers = { accept: 'application/json, text/event-stream' }
    expect((await (await person())('/mcp', { body, headers })).status).toBe(200)
    const stranger = asToken(await other.sign({ iss: issuer.url }, { kid: 'x' }))
    expect((await stranger('/mcp', { body, headers })).status).toBe(401)
  })

  it('is checked with a new key at once when the issuer has changed it, and without a fetch for each', async () => {
    const own = await startTokenIssuer()
    const { url } = await startServer({ ...settings, OIDC_ISSUER: own.url })
    const status = async () => (await requester(url, await own.sign())('/v1/models')).status
    expect(await status()).toBe(200)
    for (let number = 0; number < 20; number += 1) {
      const token = await own.sign({}, { kid: `unknown ${number}` })
      expect((await requester(url, token)('/v1/models')).status).toBe(401)
    }
    expect(own.fetches()).toBeLessThan(4)
  })

  it('is taken neither nor refused for good while the keys cannot be fetched', async () => {
    const own = await startTokenIssuer()
    own.fail(500)
    const { url } = await startServer({ ...settings, OIDC_ISSUER: own.url })
    const response = await requester(url, await own.sign())('/v1/models')
    expect(response.headers.get('retry-after')).toMatch(/^\d+$/)
    expect(await failureOf(response)).toMatchObject({ status: 503, code: 'issuer_unavailable' })
  })
})

describe('A token is refused', () => {
  const claims = () => ({ iss: issuer.url, aud: 'agent', sub: 'ada', iat: now(), exp: now() + 60 })

  it('without a signature', async () => {
    for (const alg of ['none', 'None', 'NONE', '']) {
      const token = `${part({ alg, typ: 'JWT' })}.${part(claims())}.`
      expect(await refusal(token), alg).toMatchObject({ status: 401, code: 'unauthorized' })
    }
  })

  it('if it is signed with the public key as a secret', async () => {
    for (const alg of ['HS256', 'HS512']) {
      const text = `${part({ alg, kid: '1' })}.${part(claims())}`
      const hmac = createHmac(alg.replace('HS', 'sha'), await issuer.publicKey())
      const token = `${text}.${hmac.update(text).digest('base64url')}`
      expect(await refusal(token), alg).toMatchObject({ status: 401 })
    }
  })

  it('if it was changed', async () => {
    const [header, , signature] = (await issuer.sign()).split('.')
    const token = `${header}.${part({ ...claims(), sub: 'bob' })}.${signature}`
    expect(await refusal(token)).toMatchObject({ status: 401 })
  })

  it.each(['jku', 'x5u', 'jwk', 'x5c'])(
    'if a key that its %s brings or names fits',
    async (name) => {
      const address = `${other.url}/keys`
      const { keys } = (await (await fetch(address)).json()) as { keys: object[] }
      const brought = { jku: address, x5u: address, jwk: keys[0], x5c: [JSON.stringify(keys[0])] }
      const key = brought[name as keyof typeof brought]
      const token = await other.sign({ iss: issuer.url }, { [name]: key })
      const before = other.fetches()
      expect(await refusal(token)).toMatchObject({ status: 401 })
      expect(other.fetches()).toBe(before)
    },
  )

  it.each([
    ['another audience', { aud: 'other' }],
    ['several audiences, of which none is this one', { aud: ['other', 'agents'] }],
    ['no audience', { aud: undefined }],
    ['another issuer', { iss: 'https://login.example.org' }],
    ['nearly the same issuer', { iss: `${issuer.url}/` }],
    ['an end that is past', { exp: now() - 61 }],
    ['no end', { exp: undefined }],
    ['a beginning that is to come', { nbf: now() + 120 }],
    ['no subject', { sub: undefined }],
    ['an empty subject', { sub: ' ' }],
    ['a subject that is a number', { sub: 7 }],
    ['a subject with a line break', { sub: 'ada\nadmin' }],
    ['the nonce of an ID token', { nonce: 'n' }],
    ['the hash of an ID token', { at_hash: 'h' }],
    ['the hash of a code', { c_hash: 'h' }],
    ['events', { events: {} }],
    ['a subject of half a character', { sub: 'ada\ud800' }],
    ['a subject that could be written otherwise', { sub: '\u212aelvin' }],
    ['a subject with a space behind', { sub: 'ada ' }],
    ['the type of an ID token at Keycloak', { typ: 'ID' }],
    ['the type of a refresh token at Keycloak', { typ: 'Refresh' }],
  ])('with %s', async (_case, changed) => {
    const failure = await refusal(await issuer.sign(changed))
    expect(failure).toMatchObject({ status: 401, code: 'unauthorized' })
  })

  it.each(['logout+jwt', 'dpop+jwt', 'secevent+jwt', 'id+jwt'])('of the type %s', async (typ) => {
    expect(await refusal(await issuer.sign({}, { typ }))).toMatchObject({ status: 401 })
  })

  it('if it is too long', async () => {
    const failure = await refusal(await issuer.sign({ pad: 'x'.repeat(20_000) }))
    expect(failure).toMatchObject({ status: 401 })
    expect(failure.message).toContain('16384')
  })
})

describe('Clocks', () => {
  it('may differ by a minute', async () => {
    const skewed = { exp: now() - 30, nbf: now() + 30 }
    expect((await (await person(skewed))('/v1/models')).status).toBe(200)
  })
})

describe('Groups', () => {
  it.each([
    ['are elsewhere', { _claim_names: { groups: 'src1' }, _claim_sources: { src1: {} } }],
    ['are too many for the implicit flow', { hasgroups: true }],
    ['are more than 200', { groups: Array.from({ length: 201 }, (_, number) => `g${number}`) }],
    ['are no names', { groups: [{ id: 1 }] }],
    ['have control characters', { groups: ['a\u0000'] }],
    ['are too long', { groups: ['g'.repeat(201)] }],
  ])('that %s are refused rather than left out', async (_case, claims) => {
    const failure = await refusal(await issuer.sign(claims))
    expect(failure).toMatchObject({ status: 403, code: 'groups_unknown' })
    expect(failure.message).toContain('OIDC_GROUPS_CLAIM')
  })
})

describe('Tokens in the shape of', () => {
  it.each(someOf(TOKEN_SHAPES, 2))('$issuer are understood', long, async (shape) => {
    const own = await startServer({ ...settings, ...shape.settings })
    const token = await issuer.sign(shape.claims, shape.header)
    expect((await requester(own.url, token)('/v1/models')).status).toBe(200)
    const { people } = (await (await own.request('/admin/people')).json()) as {
      people: { id: string; groups: string[] }[]
    }
    expect(people).toMatchObject([{ id: shape.person, groups: shape.groups }])
  })
})

it('Without an issuer, tokens are wrong keys', async () => {
  const { url } = await startServer()
  const failure = await failureOf(await requester(url, await issuer.sign())('/v1/models'))
  expect(failure).toMatchObject({ status: 401, code: 'unauthorized' })
})

it('Only who has the required claim is let in', async () => {
  const { url } = await startServer({ ...settings, OIDC_REQUIRED_CLAIM: 'groups=staff' })
  const statusWith = async (claims: Record<string, unknown>) =>
    (await requester(url, await issuer.sign(claims))('/v1/models')).status
  expect(await statusWith({ groups: ['drivers', 'staff'] })).toBe(200)
  expect(await statusWith({ groups: 'staff' })).toBe(200)
  for (const groups of [undefined, [], ['staff2'], 'staff=']) {
    expect(await statusWith({ groups })).toBe(401)
  }
})
