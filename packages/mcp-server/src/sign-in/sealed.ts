import { createHmac, scrypt } from 'node:crypto'
import { promisify } from 'node:util'
import { isSameSecret } from '@agent-server/lib/same-secret.ts'
import { parseJson } from '@agent-server/lib/text/json.ts'
import type { z } from 'zod'

const derive = promisify<string, string, number, object, Buffer>(scrypt)
// About 0.1 s, once: anybody can have a value sealed, and must not be able to guess the server's key from it quickly.
const COST = { N: 2 ** 16, r: 8, p: 1, maxmem: 2 ** 27 }

/**
 * Values that others keep and bring back unchanged, until they expire: nothing is stored, and every server with the
 * same key can read them. They are signed, not encrypted.
 */
export function createSeals(serverApiKey: string) {
  let key: Promise<Buffer> | undefined
  const macOf = async (kind: string, text: string) => {
    key ??= derive(serverApiKey, 'agent-server OAuth', 32, COST)
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
