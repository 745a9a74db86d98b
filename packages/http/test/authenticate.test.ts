import type { FastifyInstance } from 'fastify'
import { describe, expect, it } from 'vitest'
import { envelope, KEY, open, openApp } from './open-app.ts'

function routes(app: FastifyInstance): void {
  app.get('/closed', () => 'secret')
  app.get('/said-closed', { config: { public: false } }, () => 'secret')
  app.get('/open', open, () => 'anybody')
  app.post('/closed', () => 'secret')
}

async function ask(authorization: string | undefined, path = '/closed', method = 'GET') {
  const { url } = await openApp(routes)
  return fetch(`${url}${path}`, {
    method,
    headers: authorization === undefined ? {} : { authorization },
  })
}

const NO_KEY = /^The key is missing. Send the header `Authorization: Bearer <SERVER_API_KEY>`.$/
const WRONG_KEY = /^The key is invalid/

describe('a route that is not declared public', () => {
  it.each<[string, string | undefined, RegExp]>([
    ['no header', undefined, NO_KEY],
    ['an empty header', '', NO_KEY],
    ['the key without a scheme', KEY, NO_KEY],
    ['the scheme without a key', 'Bearer', NO_KEY],
    ['the scheme and blanks', 'Bearer   ', NO_KEY],
    ['another scheme', `Basic ${Buffer.from(`user:${KEY}`).toString('base64')}`, NO_KEY],
    ['the key in another scheme', `Token ${KEY}`, NO_KEY],
    ['two keys', `Bearer ${KEY} ${KEY}`, NO_KEY],
    ['another key', 'Bearer another-key-of-a-stranger', WRONG_KEY],
    ['the beginning of the key', `Bearer ${KEY.slice(0, -1)}`, WRONG_KEY],
    ['the key and more', `Bearer ${KEY}x`, WRONG_KEY],
    ['the key in other letters', `Bearer ${KEY.toUpperCase()}`, WRONG_KEY],
    ['the key in quotes', `Bearer "${KEY}"`, WRONG_KEY],
  ])('refuses %s', async (_case, authorization, message) => {
    const response = await ask(authorization)
    expect(response.status).toBe(401)
    expect(response.headers.get('www-authenticate')).toBe('Bearer')
    expect(await response.json()).toEqual(envelope('unauthorized', expect.stringMatching(message)))
  })

  it.each([`Bearer ${KEY}`, `bearer ${KEY}`, `BEARER ${KEY}`, `Bearer   ${KEY}`])(
    'answers to the key, however the scheme is written: %s',
    async (authorization) => {
      expect(await (await ask(authorization)).text()).toBe('secret')
    },
  )

  it.each(['key', 'api_key', 'token', 'authorization', 'access_token'])(
    'does not take the key from the query string: %s',
    async (name) => {
      expect((await ask(undefined, `/closed?${name}=${KEY}`)).status).toBe(401)
    },
  )

  it.each<[string, Record<string, string>]>([
    ['x-api-key', { 'x-api-key': KEY }],
    ['a cookie', { cookie: `authorization=Bearer ${KEY}` }],
    ['proxy-authorization', { 'proxy-authorization': `Bearer ${KEY}` }],
  ])('does not take the key from %s', async (_case, headers) => {
    const { url } = await openApp(routes)
    expect((await fetch(`${url}/closed`, { headers })).status).toBe(401)
  })

  it('requires a key also if it is declared as not public', async () => {
    expect((await ask(undefined, '/said-closed')).status).toBe(401)
  })

  it('is closed for every method', async () => {
    for (const method of ['GET', 'HEAD', 'POST', 'DELETE', 'OPTIONS', 'PUT']) {
      expect((await ask(undefined, '/closed', method)).status).toBe(401)
    }
  })

  it('refuses before it reads the body', async () => {
    const { url } = await openApp(routes)
    const response = await fetch(`${url}/closed`, { method: 'POST', body: 'x'.repeat(200_000) })
    expect(response.status).toBe(401)
  })

  it.each(['/Closed', '/closed/', '//closed', '/closed%2f', '/open/../closed', '/./closed'])(
    'has no other address without a key: %s',
    async (path) => {
      const { app } = await openApp(routes)
      const { statusCode } = await app.inject({ method: 'GET', url: path })
      expect(statusCode).toBe(401)
    },
  )
})

describe('an address without a route', () => {
  it('requires the key, which hides the list of routes', async () => {
    expect((await ask(undefined, '/nowhere')).status).toBe(401)
  })

  it('is a 404 with the key', async () => {
    expect((await ask(`Bearer ${KEY}`, '/nowhere')).status).toBe(404)
  })
})

describe('a public route', () => {
  it.each([undefined, 'Bearer wrong', 'nonsense'])(
    'answers whatever is presented: %s',
    async (authorization) => {
      expect(await (await ask(authorization, '/open')).text()).toBe('anybody')
    },
  )

  it('answers HEAD without a key, too', async () => {
    expect((await ask(undefined, '/open', 'HEAD')).status).toBe(200)
  })

  it('is public for its own method only', async () => {
    expect((await ask(undefined, '/open', 'POST')).status).toBe(401)
  })
})

it('writes the presented key into no log line', async () => {
  const { url, log } = await openApp(routes)
  for (const key of [KEY, 'a-key-of-another-server']) {
    await fetch(`${url}/closed?key=${key}`, { headers: { authorization: `Bearer ${key}` } })
    await fetch(`${url}/nowhere?key=${key}`, { headers: { authorization: `Bearer ${key}` } })
  }
  expect(log.length).toBeGreaterThan(4)
  expect(JSON.stringify(log)).not.toMatch(/a-key-/)
})
