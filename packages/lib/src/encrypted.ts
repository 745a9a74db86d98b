import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto'
import { promisify } from 'node:util'
import { parseJson } from './text/json.ts'

const derive = promisify<string, string, number, object, Buffer>(scrypt)
// About 0.1 s, once: whoever gets a value must not be able to guess the server's key from it quickly.
const COST = { N: 2 ** 16, r: 8, p: 1, maxmem: 2 ** 27 }
const ALGORITHM = 'aes-256-gcm'
const IV_BYTES = 12
const TAG_BYTES = 16

/** A key for one purpose, from the server's own. */
export const deriveKey = (serverApiKey: string, purpose: string) =>
  derive(serverApiKey, `agent-server ${purpose}`, 32, COST)

/**
 * Values for others to keep that they can neither read nor change: every server with the same key can open them.
 * `purpose` keeps a value of one kind from being brought as another.
 */
export function createEncryption(serverApiKey: string, purpose: string) {
  let key: Promise<Buffer> | undefined
  const keyOf = () => {
    key ??= deriveKey(serverApiKey, purpose)
    return key
  }

  return {
    async seal(value: object): Promise<string> {
      const iv = randomBytes(IV_BYTES)
      const cipher = createCipheriv(ALGORITHM, await keyOf(), iv)
      const body = Buffer.concat([cipher.update(JSON.stringify(value)), cipher.final()])
      return Buffer.concat([iv, cipher.getAuthTag(), body]).toString('base64url')
    },

    /** Undefined if it is not as this key has sealed it. */
    async open(sealed: string): Promise<unknown> {
      const bytes = Buffer.from(sealed, 'base64url')
      if (bytes.length < IV_BYTES + TAG_BYTES) return undefined
      const decipher = createDecipheriv(ALGORITHM, await keyOf(), bytes.subarray(0, IV_BYTES))
      decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES))
      const start = decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES))
      try {
        return parseJson(Buffer.concat([start, decipher.final()]).toString())
      } catch {
        // The tag does not fit.
        return undefined
      }
    },
  }
}

export type Encryption = ReturnType<typeof createEncryption>
