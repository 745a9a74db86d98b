import { z } from 'zod'
import type { QdrantConnection } from './qdrant-connection.ts'

/** The first that takes `memory` in the description of a collection. */
const LEAST = [1, 19] as const
const Version = z.object({ version: z.string() })

/** Throws where the server at the address is no Qdrant that this index can be kept in. */
export async function checkVersion(
  { call }: QdrantConnection,
  signal?: AbortSignal,
): Promise<void> {
  const { version } = await call({ method: 'GET', path: '/', result: Version, bare: true }, signal)
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major === LEAST[0] && minor >= LEAST[1]) return
  throw new Error(
    `Qdrant is of version ${version.slice(0, 20)}: this server needs ${LEAST.join('.')} or later, below ${LEAST[0] + 1}`,
  )
}
