import { describe, expect, it } from 'vitest'
import { verifies } from '../requirements.ts'
import { fillPath, operationsOf, readContract } from '../support/contract.ts'
import { type Failure, failureOf } from '../support/failure.ts'
import { countDocuments } from '../support/knowledge.ts'
import { startServer, TEST_KEY } from '../support/server.ts'

const PUBLIC = ['/health', '/readiness', '/reference', '/openapi.json']

const server = await startServer()
const operations = operationsOf(await readContract(server))

interface Call {
  method: string
  path: string
}

/** A call with these headers alone, and a body that would be accepted where one is. */
function call({ method, path }: Call, headers: Record<string, string> = {}): Promise<Response> {
  const body = JSON.stringify({
    text: 'A text.',
    query: 'A query',
    messages: [{ role: 'user', content: 'A question' }],
  })
  const json = { 'content-type': 'application/json', ...headers }
  const target = `${server.url}${fillPath(path)}`
  if (method !== 'POST') return fetch(target, { method, headers })
  return fetch(target, { method, headers: json, body })
}

async function refusalsOf(headers: Record<string, string>): Promise<Failure[]> {
  const calls = operations.filter(({ isPublic }) => !isPublic)
  const responses = await Promise.all(calls.map((operation) => call(operation, headers)))
  return Promise.all(responses.map(failureOf))
}

const REFUSAL = {
  status: 401,
  code: 'unauthorized',
  type: 'authentication_error',
  param: null,
}

describe('Every operation of the contract but the public ones', () => {
  it.each([
    ['no key', {}],
    ['an empty header', { authorization: '' }],
    ['the scheme without a key', { authorization: 'Bearer ' }],
    ['a wrong key', { authorization: 'Bearer a-key-for-tests-onlY' }],
    ['a beginning of the key', { authorization: `Bearer ${TEST_KEY.slice(0, -1)}` }],
    ['more than the key', { authorization: `Bearer ${TEST_KEY}x` }],
    ['two keys', { authorization: `Bearer ${TEST_KEY} ${TEST_KEY}` }],
    ['the key without its scheme', { authorization: TEST_KEY }],
    ['the key in the Basic scheme', { authorization: `Basic ${TEST_KEY}` }],
    ['the key as a Basic password', { authorization: `Basic ${btoa(`user:${TEST_KEY}`)}` }],
    ['the key in another header', { 'x-key': TEST_KEY }],
  ])(
    'refuses %s with 401 and a challenge, before it reads the body',
    verifies('authentication.bearer', 'authentication.key', 'errors.challenge'),
    async (_case, headers) => {
      const refusals = await refusalsOf(headers)
      expect(refusals.length).toBeGreaterThan(40)
      for (const refusal of refusals) {
        expect(refusal).toMatchObject(REFUSAL)
        expect(refusal.headers.get('www-authenticate')).toMatch(/^Bearer( |$)/)
        expect(JSON.stringify(refusal)).not.toContain(TEST_KEY)
      }
      expect(await countDocuments(server)).toBe(0)
    },
  )

  it('takes no key from the address', verifies('authentication.bearer'), async () => {
    for (const name of ['key', 'api_key', 'access_token', 'authorization']) {
      const response = await fetch(`${server.url}/agent?${name}=${TEST_KEY}`)
      expect(await failureOf(response)).toMatchObject(REFUSAL)
    }
  })

  it.each([`Bearer ${TEST_KEY}`, `bearer ${TEST_KEY}`, `BEARER   ${TEST_KEY} `])(
    'answers to "%s"',
    verifies('authentication.bearer'),
    async (authorization) => {
      const guarded = operations.filter(({ isPublic, method }) => !isPublic && method === 'GET')
      const answers = guarded.map((operation) => call(operation, { authorization }))
      // 400: the name that stands in the path is of no form that the operation knows.
      for (const { status } of await Promise.all(answers)) expect([200, 400, 404]).toContain(status)
    },
  )
})

describe('Without a key', () => {
  it(
    'exactly /health, /readiness, /reference and /openapi.json answer',
    verifies(
      'authentication.public',
      'endpoint.health',
      'endpoint.readiness',
      'endpoint.reference',
      'endpoint.openapi',
      'openapi.security',
    ),
    async () => {
      for (const path of PUBLIC) expect((await fetch(server.url + path)).status).toBe(200)
      const open = operations.filter(({ isPublic }) => isPublic).map(({ path }) => path)
      expect(open.toSorted()).toEqual(['/health', '/readiness'])
    },
  )

  it('a wrong key does not close what is public', verifies('authentication.public'), async () => {
    for (const path of PUBLIC) {
      const response = await fetch(server.url + path, { headers: { authorization: 'Bearer no' } })
      expect(response.status).toBe(200)
    }
  })

  it.each([
    ['GET', '/nowhere'],
    ['GET', '/'],
    ['GET', '/agent/'],
    ['GET', '//agent'],
    ['GET', '/health/agent'],
    ['GET', '/reference/%2e%2e/agent'],
    ['GET', '/%61gent'],
    ['POST', '/health'],
    ['POST', '/reference'],
    ['DELETE', '/openapi.json'],
    ['OPTIONS', '/query'],
    ['HEAD', '/agent'],
    ['PUT', '/documents/x'],
    ['PATCH', '/chat'],
  ])(
    '%s %s tells nothing but that a key is needed',
    verifies('authentication.public', 'http.unknown-route'),
    async (method, path) => {
      expect((await call({ method, path })).status).toBe(401)
    },
  )
})

describe('A deployed server', () => {
  it(
    'asks for its key in the same way',
    verifies('authentication.deployed', 'environment.server-api-key'),
    async () => {
      const key = 'another-key-of-a-deployment'
      const deployed = await startServer({ NODE_ENV: 'production', SERVER_API_KEY: key })
      const statusWith = async (authorization: string) =>
        (await fetch(`${deployed.url}/agent`, { headers: { authorization } })).status
      expect(await statusWith(`Bearer ${key}`)).toBe(200)
      expect(await statusWith(`Bearer ${TEST_KEY}`)).toBe(401)
      expect((await fetch(`${deployed.url}/health`)).status).toBe(200)
    },
  )
})
