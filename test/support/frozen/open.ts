import { fileURLToPath } from 'node:url'
import { startScriptedEmbedder } from '../scripted-embedder.ts'
import { startServer } from '../server.ts'

export const FROZEN = fileURLToPath(new URL('../../fixtures/versions/0.1.0/', import.meta.url))
/** Of all that is kept of a version. */
export const MAX_BYTES = 3_000_000
/** `FREEZE_DATA=1 npm test -- <file>` makes the data anew, until the version is released. */
export const isFreezing = process.env.FREEZE_DATA === '1'

/** With which a server opens such data, in a folder or a database. */
export async function frozenSettings(place: Record<string, string>) {
  const embedder = await startScriptedEmbedder()
  return {
    EMBEDDING_MODEL: 'model-a',
    EMBEDDING_BASE_URL: embedder.url,
    EMBEDDING_API_KEY: 'any-key-1234',
    OUTBOUND_ALLOW: '127.0.0.1',
    AUDIT_DAYS: '3650',
    USAGE_DAYS: '3650',
    ...place,
  }
}

/** A server of this version on such data. */
export const openFrozen = async (place: Record<string, string>) =>
  startServer(await frozenSettings(place))
