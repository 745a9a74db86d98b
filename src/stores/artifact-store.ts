export interface NewArtifact {
  /** As its maker names it; it is stored under a name that is safe as a file name. */
  name: string
  mediaType: string
  bytes: Uint8Array
}

export interface StoredArtifact {
  id: string
  name: string
  mediaType: string
  /** In bytes. */
  size: number
  /** Milliseconds since 1970, from when on it is gone. */
  expiresAt: number
}

/** Files that tools made, kept for a while: bounded in number, in size and in age, the oldest going first. */
export interface ArtifactStore {
  /** The largest file that is taken, in bytes. */
  readonly maximumBytes: number
  /** Throws `storage_full` where the disk is, RangeError for more than `maximumBytes`. */
  add(file: NewArtifact): Promise<StoredArtifact>
  /** Nothing where there is none, or no longer. */
  read(id: string): Promise<{ artifact: StoredArtifact; bytes: Uint8Array } | undefined>
}

/** What there is room for. */
export interface ArtifactBounds {
  /** Of one file. */
  maximumBytes: number
  /** Of all files together. */
  maximumTotalBytes: number
  maximumCount: number
  maximumAgeMilliseconds: number
}

export const ARTIFACT_BOUNDS: ArtifactBounds = {
  maximumBytes: 25_000_000,
  maximumTotalBytes: 1_000_000_000,
  maximumCount: 10_000,
  maximumAgeMilliseconds: 7 * 24 * 3_600_000,
}
