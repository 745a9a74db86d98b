import { createHmac } from 'node:crypto'
import { OutboundError, type OutboundRequest } from '@agent-server/lib/outbound/guarded-fetch.ts'
import type { OutboxEvent } from '@agent-server/stores'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createWebhooks, signedHeaders } from '../../../src/documents/webhooks/webhooks.ts'

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const WAITS = [1_000, 60_000]

const event = (attempt = 1): OutboxEvent => ({
  id: `msg_${attempt}`,
  documentId: 'doc',
  revision: 2,
  status: 'ready',
  error: undefined,
  endedAt: 1_700_000_000_000,
  attempt,
})

type Answer = (request: OutboundRequest) => Promise<Response>

/** Webhooks over a fake outbox, which holds `waiting`, and a fake receiver. */
async function startForTest(waiting: OutboxEvent[], answer: Answer, more: object = {}) {
  const wanted: boolean[] = []
  const settled: unknown[] = []
  const logged: unknown[] = []
  const bell = Promise.withResolvers<void>()
  const settle = (...what: unknown[]) => {
    settled.push(what)
    bell.resolve()
    return Promise.resolve()
  }
  const webhooks = createWebhooks({
    outbox: {
      enable: async (isEnabled) => void wanted.push(isEnabled),
      takeEvents: async (limit) => waiting.splice(0, limit),
      postponeEvent: (id, dueAt) => {
        expect(dueAt).toBe(Math.trunc(dueAt))
        return settle('put off', id, Math.round((dueAt - Date.now()) / 1_000) + 0)
      },
      removeEvent: (id) => settle('drop', id),
    },
    fetch: (_url, request) => answer(request),
    url: 'https://example.org/hook',
    secret: SECRET,
    waits: WAITS,
    ...more,
    log: {
      warn: (fields, message) => logged.push(['warn', fields, message]),
      error: (fields, message) => logged.push(['error', fields, message]),
    },
  })
  onTestFinished(() => webhooks.stop())
  await webhooks.start()
  return { webhooks, wanted, settled, logged, first: bell.promise }
}

describe('A webhook', () => {
  it('tells what has become of the document, signed, and follows no redirect', async () => {
    const requests: OutboundRequest[] = []
    const { settled, first } = await startForTest([event()], async (request) => {
      requests.push(request)
      return new Response()
    })
    await first
    expect(settled).toEqual([['drop', 'msg_1']])
    const [{ body, headers, ...rest } = {}] = requests
    expect(rest).toMatchObject({ method: 'POST', redirect: 'manual' })
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'webhook-id': 'msg_1',
      'webhook-signature': expect.stringMatching(/^v1,/),
    })
    expect(JSON.parse(String(body))).toEqual({
      type: 'document.ready',
      timestamp: '2023-11-14T22:13:20.000Z',
      data: { id: 'doc', revision: 2, status: 'ready' },
    })
  })

  it('carries the reason of a failure', async () => {
    const error = { code: 'empty_document', message: 'm' }
    const bodies: string[] = []
    const failed = { ...event(), status: 'failed' as const, error }
    const { first } = await startForTest([failed], async ({ body }) => {
      bodies.push(String(body))
      return new Response()
    })
    await first
    expect(JSON.parse(bodies[0] ?? '')).toMatchObject({ type: 'document.failed', data: { error } })
  })

  it.each<[string, Answer]>([
    ['the receiver refuses', async () => new Response(null, { status: 500 })],
    ['the receiver sends it elsewhere', async () => new Response(null, { status: 302 })],
    ['nobody answers', () => Promise.reject(new OutboundError('timeout', 'too late'))],
    ['it may not be called', () => Promise.reject(new OutboundError('forbidden', 'private'))],
  ])('is sent again later, and later each time, where %s', async (_what, answer) => {
    const { settled, logged, first } = await startForTest([event(1)], answer)
    await first
    expect(settled).toEqual([['put off', 'msg_1', 1]])
    expect(logged).toMatchObject([['warn', { documentId: 'doc', attempt: 1 }, expect.any(String)]])
    const later = await startForTest([event(2)], answer)
    await later.first
    expect(later.settled).toEqual([
      ['put off', 'msg_2', expect.toSatisfy((s: number) => s >= 60 && s <= 66)],
    ])
  })

  it('is given up after its last attempt, and the log says so', async () => {
    const { settled, logged, first } = await startForTest(
      [event(3)],
      async () => new Response(null, { status: 503 }),
    )
    await first
    expect(settled).toEqual([['drop', 'msg_3']])
    expect(logged).toMatchObject([
      ['error', { failure: 'status 503' }, expect.stringMatching(/will not be sent again/)],
    ])
  })

  it('is sent no more to a receiver that is gone', async () => {
    const { settled, first } = await startForTest(
      [event()],
      async () => new Response(null, { status: 410 }),
    )
    await first
    expect(settled).toEqual([['drop', 'msg_1']])
  })

  it('that is under way when the server stops is due again', async () => {
    const begun = Promise.withResolvers<void>()
    const { webhooks, settled } = await startForTest([event()], ({ signal }) => {
      begun.resolve()
      return new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason))
      })
    })
    await begun.promise
    await webhooks.stop()
    expect(settled).toEqual([['put off', 'msg_1', 0]])
  })

  it('goes out when it is rung for', async () => {
    const waiting: OutboxEvent[] = []
    const { webhooks, first } = await startForTest(waiting, async () => new Response())
    waiting.push(event())
    webhooks.wake()
    await first
  })

  it('says again and again that ends are to be written down', async () => {
    const { webhooks, wanted } = await startForTest([], async () => new Response(), {
      renewalMs: 0,
    })
    await expect
      .poll(() => {
        webhooks.wake()
        return wanted.length
      })
      .toBeGreaterThan(3)
    expect(new Set(wanted)).toEqual(new Set([true]))
  })

  it('says so once where it need not be said again yet', async () => {
    const { webhooks, wanted, first } = await startForTest([event()], async () => new Response())
    await first
    webhooks.wake()
    expect(wanted).toEqual([true])
  })
})

/** From the specification's own libraries. */
const MESSAGE = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', body: '{"test": 2432232314}' }
const NOW = 1_614_265_330_000

describe('A signed message', () => {
  it('has the headers of Standard Webhooks, and the signature that its libraries compute', () => {
    expect(signedHeaders(SECRET, MESSAGE, NOW)).toEqual({
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    })
  })

  it('is signed with the bytes of the secret, not with its letters', () => {
    const wrong = createHmac('sha256', SECRET)
      .update(`${MESSAGE.id}.1614265330.${MESSAGE.body}`)
      .digest('base64')
    expect(signedHeaders(SECRET, MESSAGE, NOW)['webhook-signature']).not.toContain(wrong)
  })

  it.each([
    ['another id', { ...MESSAGE, id: 'msg_other' }, NOW],
    ['another body', { ...MESSAGE, body: '{}' }, NOW],
    ['another time', MESSAGE, NOW + 1_000],
  ])('has another signature with %s', (_what, message, now) => {
    const signatureOf = (...[m, t]: [typeof MESSAGE, number]) =>
      signedHeaders(SECRET, m, t)['webhook-signature']
    expect(signatureOf(message, now)).not.toBe(signatureOf(MESSAGE, NOW))
  })
})
