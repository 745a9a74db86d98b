import { AppError } from '../../errors.ts'
import type { ArtifactStore } from '../../stores/artifact-store.ts'

export interface ArtifactContent {
  name: string
  mediaType: string
  bytes: Uint8Array
}

/** Throws `artifact_not_found`. */
export type ReadArtifact = (id: string) => Promise<ArtifactContent>

export function createArtifactReader(store: Pick<ArtifactStore, 'read'>): ReadArtifact {
  return async (id) => {
    const found = await store.read(id)
    if (!found) throw new AppError('artifact_not_found', 'There is no such artifact, or no longer')
    const { name, mediaType } = found.artifact
    return { name, mediaType, bytes: found.bytes }
  }
}
