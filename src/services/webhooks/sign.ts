import { createHmac } from 'node:crypto'

const PREFIX = 'whsec_'

/**
 * The headers by which a receiver tells that a message is ours, whole and new, as https://www.standardwebhooks.com
 * has them. The secret is `whsec_` and its bytes in base64.
 */
export function signedHeaders(
  secret: string,
  message: { id: string; body: string },
  now: number,
): Record<string, string> {
  const timestamp = Math.floor(now / 1_000)
  const signature = createHmac('sha256', keyOf(secret))
    .update(`${message.id}.${timestamp}.${message.body}`)
    .digest('base64')
  return {
    'webhook-id': message.id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': `v1,${signature}`,
  }
}

function keyOf(secret: string): Buffer {
  return Buffer.from(secret.replace(PREFIX, ''), 'base64')
}
