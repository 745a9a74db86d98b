import { randomUUID } from 'node:crypto'
import type { NewArtifact, StoredArtifact } from './artifact-store.ts'
import { safeMediaType, safeName } from './safe-name.ts'

/** What is kept of a new artifact beside its bytes, under an id of its own. Throws RangeError where it is too large. */
export function describeArtifact(
  { name, mediaType, bytes }: NewArtifact,
  maximumBytes: number,
): Omit<StoredArtifact, 'expiresAt'> {
  if (bytes.length > maximumBytes) {
    throw new RangeError(`a file of ${bytes.length} bytes is more than ${maximumBytes}`)
  }
  return {
    id: `art_${randomUUID().replaceAll('-', '')}`,
    name: safeName(name),
    mediaType: safeMediaType(mediaType),
    size: bytes.length,
  }
}
