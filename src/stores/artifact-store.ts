import { randomUUID } from 'node:crypto'

export interface NewArtifact {
  /** A word, `_` and a UUID without hyphens, where the caller has made it; else it is made here. */
  id?: string
  /** As its maker names it; it is stored under a name that is safe as a file name. */
  name: string
  mediaType: string
  bytes: Uint8Array
  /** The id of the key that it was made for; nothing where that was the master key. */
  owner?: string | undefined
}

export interface StoredArtifact {
  id: string
  name: string
  mediaType: string
  /** In bytes. */
  size: number
  /** When it is removed, in milliseconds since 1970. */
  expiresAt: number
  /** A path that opens it without a key, for a while; where there are such. */
  link?: string | undefined
}

/** Files that tools made, and responses of the agent, kept for a while: bounded in number, size and age. The oldest are removed first. */
export interface ArtifactStore {
  /** The largest file that is taken, in bytes. */
  readonly maximumBytes: number
  /** Throws `storage_full` where the disk is, RangeError for more than `maximumBytes`. */
  add(file: NewArtifact): Promise<StoredArtifact>
  /** Nothing where there is none (any more), or where an owner is named and it belongs to somebody else. */
  read(
    id: string,
    owner?: string,
  ): Promise<{ artifact: StoredArtifact; bytes: Uint8Array } | undefined>
  /** Whether there was one. */
  remove(id: string): Promise<boolean>
}

/** What there is room for. */
export interface ArtifactBounds {
  /** Of one file. */
  maximumBytes: number
  /** Of all files together. */
  maximumTotalBytes: number
  maximumCount: number
  maximumAgeMs: number
}

export const ARTIFACT_BOUNDS: ArtifactBounds = {
  maximumBytes: 25_000_000,
  maximumTotalBytes: 1_000_000_000,
  maximumCount: 10_000,
  maximumAgeMs: 7 * 24 * 3_600_000,
}

/** Responses of the agent, which are kept in the same way, apart from the artifacts. */
export const RESPONSE_BOUNDS: ArtifactBounds = {
  ...ARTIFACT_BOUNDS,
  maximumAgeMs: 30 * 24 * 3_600_000,
}

/** An identifier that nobody guesses. */
export function newId(word: string): string {
  return `${word}_${randomUUID().replaceAll('-', '')}`
}

/** What is kept of a new artifact beside its bytes, under an id of its own. Throws RangeError where it is too large. */
export function describeArtifact(
  { id = newId('art'), name, mediaType, bytes }: NewArtifact,
  maximumBytes: number,
): Omit<StoredArtifact, 'expiresAt'> {
  if (bytes.length > maximumBytes) {
    throw new RangeError(`a file of ${bytes.length} bytes is more than ${maximumBytes}`)
  }
  return {
    id,
    name: safeName(name),
    mediaType: safeMediaType(mediaType),
    size: bytes.length,
  }
}

const MAX_CHARACTERS = 120
const FALLBACK = 'file'

// Separators of folders, characters that shells and Windows treat specially, controls, and marks that reverse the direction of text.
const UNSAFE = /[\\/:*?"<>|\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu

/** A file name that no system takes for a path. Where it is too long it keeps its ending. */
function safeName(name: string): string {
  const cleaned = name
    .normalize('NFC')
    .replaceAll(UNSAFE, '_')
    .replace(/^[.\s]+/, '')
    .trim()
  if (cleaned === '') return FALLBACK
  const characters = [...cleaned]
  if (characters.length <= MAX_CHARACTERS) return cleaned
  const ending = /\.[A-Za-z0-9]{1,10}$/.exec(cleaned)?.[0] ?? ''
  return characters.slice(0, MAX_CHARACTERS - ending.length).join('') + ending
}

const MEDIA_TYPE = /^[a-z]+\/[a-z0-9][a-z0-9.+-]{0,99}$/

/** The media type, or that of unknown bytes where it is none. */
function safeMediaType(mediaType: string): string {
  const lower = mediaType.toLowerCase()
  return MEDIA_TYPE.test(lower) ? lower : 'application/octet-stream'
}
