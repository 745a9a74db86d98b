import type { ArtifactStore, StoredArtifact } from '@agent-server/stores'

/** A fake artifact store: keeps every file in memory, as it was named, for ever. */
export function createMemoryArtifactStore({ maximumBytes = 1_000_000 } = {}): ArtifactStore {
  const kept = new Map<string, { artifact: StoredArtifact; bytes: Uint8Array; owner?: string }>()

  return {
    maximumBytes,
    async add({ id = `art_${kept.size + 1}`, name, mediaType, bytes, owner }) {
      const artifact = { id, name, mediaType, size: bytes.length, expiresAt: 1_790_000_000_000 }
      kept.set(id, { artifact, bytes: bytes.slice(), ...(owner && { owner }) })
      return artifact
    },
    read: async (id, owner) => {
      const found = kept.get(id)
      return owner !== undefined && owner !== found?.owner ? undefined : found
    },
    remove: async (id) => kept.delete(id),
  }
}
