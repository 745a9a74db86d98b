import { createHmac } from 'node:crypto'
import { deriveKey } from '@agent-server/lib/encrypted.ts'
import { isSameSecret } from '@agent-server/lib/same-secret.ts'
import { parseJson } from '@agent-server/lib/text/json.ts'
import type { z } from 'zod'

/**
 * Values that others keep and bring back unchanged, until they expire: nothing is stored, and every server with the
 * same key can read them. They are signed, not encrypted.
 */
export function createSeals(serverApiKey: string) {
  let key: Promise<Buffer> | undefined
  const macOf = async (kind: string, text: string) => {
    key ??= deriveKey(serverApiKey, 'OAuth')
    return createHmac('sha256', await key)
      .update(`${kind}.${text}`)
      .digest('base64url')
  }

  return {
    async seal(kind: string, value: object, lifetimeMs: number): Promise<string> {
      const until = Date.now() + lifetimeMs
      const text = Buffer.from(JSON.stringify({ ...value, until })).toString('base64url')
      return `${text}.${await macOf(kind, text)}`
    },

    /** Undefined if this server did not seal it as this kind, or it has expired. */
    async open<Shape extends z.ZodType<{ until: number }>>(
      kind: string,
      sealed: string,
      shape: Shape,
    ): Promise<z.output<Shape> | undefined> {
      const [text = '', mac = '', ...more] = sealed.split('.')
      if (more.length > 0 || !isSameSecret(mac, await macOf(kind, text))) return undefined
      const { data } = shape.safeParse(parseJson(Buffer.from(text, 'base64url').toString()))
      return data && data.until > Date.now() ? data : undefined
    },
  }
}
