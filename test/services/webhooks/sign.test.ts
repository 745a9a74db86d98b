import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { signedHeaders } from '../../../src/services/webhooks/webhooks.ts'

/** From the specification's own libraries. */
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
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
