import { once } from 'node:events'
import type { FastifyInstance } from 'fastify'
import { describe, expect, it } from 'vitest'
import { installBodyBudget } from '../../src/http/request-body.ts'
import { envelope, open, openApp } from './open-app.ts'

const LIMIT = 1_000

/** A route that holds its body until it is let go. */
async function openHolding() {
  const gate = Promise.withResolvers<void>()
  const { url } = await openApp((app: FastifyInstance) => {
    installBodyBudget(app, LIMIT)
    app.addContentTypeParser('application/x-ndjson', (_request, payload, done) => {
      payload.resume().once('end', () => done(null))
    })
    app.post('/hold', open, async () => {
      await gate.promise
      return 'held'
    })
    app.post('/pass', open, () => 'passed')
  })
  const post = (path: string, bytes: number, type = 'application/json') =>
    fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': type },
      body: JSON.stringify('x'.repeat(bytes - 2)),
    })
  return { post, letGo: gate.resolve }
}

describe('The bodies of all requests together', () => {
  it('may be as large as 64 of the largest, and one more is refused until one has gone', async () => {
    const { post, letGo } = await openHolding()
    const held = Array.from({ length: 63 }, () => post('/hold', LIMIT))
    held.push(post('/hold', LIMIT - 10))
    await expect.poll(async () => (await post('/pass', 11)).status).toBe(429)
    const refused = await post('/pass', 11)
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(await refused.json()).toEqual(
      envelope('too_much_at_once', expect.stringContaining('at once')),
    )
    expect((await post('/pass', 10)).status).toBe(200)
    letGo()
    expect((await Promise.all(held)).map(({ status }) => status)).toEqual(Array(64).fill(200))
    await expect.poll(async () => (await post('/pass', LIMIT)).status).toBe(200)
  })

  it('leave out what is read piece by piece', async () => {
    const { post } = await openHolding()
    const sent = Array.from({ length: 80 }, () => post('/pass', LIMIT, 'application/x-ndjson'))
    expect((await Promise.all(sent)).map(({ status }) => status)).toEqual(Array(80).fill(200))
  })

  it('leave out those of callers who hang up while their key is looked up', async () => {
    const leave = new AbortController()
    let waiting = 0
    let left = 0
    const { url } = await openApp((app) => {
      app.addHook('onRequest', async ({ url: path }, { raw }) => {
        if (path !== '/leave') return
        waiting++
        await once(raw, 'close')
        left++
      })
      installBodyBudget(app, LIMIT)
      app.post('/leave', open, () => 'passed')
      app.post('/pass', open, () => 'passed')
    })
    const body = JSON.stringify('x'.repeat(LIMIT - 2))
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body }
    const leaving = Array.from({ length: 64 }, () =>
      fetch(`${url}/leave`, { ...init, signal: leave.signal }).catch(() => undefined),
    )
    await expect.poll(() => waiting).toBe(64)
    leave.abort()
    await Promise.all(leaving)
    await expect.poll(() => left).toBe(64)
    expect((await fetch(`${url}/pass`, init)).status).toBe(200)
  })
})
