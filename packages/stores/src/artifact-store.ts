import { newId } from '@agent-server/lib/new-id.ts'

export interface NewArtifact {
  /** A word, `_` and a UUID without hyphens; generated if the caller does not pass one. */
  id?: string
  /** The name given by its creator; it is stored under a name that is safe as a file name. */
  name: string
  mediaType: string
  bytes: Uint8Array
  /** The id of the key that it was created for; undefined for the master key. */
  owner?: string | undefined
}

export interface StoredArtifact {
  id: string
  name: string
  mediaType: string
  /** In bytes. */
  size: number
  /** When it expires, in milliseconds since the epoch. */
  expiresAt: number
  /** A path that opens it without a key for a while, if the store has such links. */
  link?: string | undefined
}

/**
 * Files made by tools and responses of the agent, kept for a while within limits of number, size and age. The oldest
 * files of the owner with the most files are removed first.
 */
export interface ArtifactStore {
  /** The size of the largest file accepted, in bytes. */
  readonly maximumBytes: number
  /** Throws `storage_full` if the disk is full, RangeError for more than `maximumBytes`. */
  add(file: NewArtifact): Promise<StoredArtifact>
  /** Returns undefined if there is none (any more), or if `owner` is given and is not its owner. */
  read(
    id: string,
    owner?: string,
  ): Promise<{ artifact: StoredArtifact; bytes: Uint8Array } | undefined>
  /** Returns whether it existed. */
  remove(id: string): Promise<boolean>
}

/** The limits of an artifact store; sizes are in bytes. */
export interface ArtifactBounds {
  /** The size of one file. */
  maximumBytes: number
  /** The size of all files together. */
  maximumTotalBytes: number
  maximumCount: number
  maximumAgeMs: number
}

const DAY_MS = 24 * 3_600_000

/** Files that tools made, responses of the agent, and runs that wait for approval: each kind on its own. */
export type ArtifactKind = 'artifact' | 'response' | 'run'

const FILES: ArtifactBounds = {
  maximumBytes: 25_000_000,
  maximumTotalBytes: 1_000_000_000,
  maximumCount: 10_000,
  maximumAgeMs: 7 * DAY_MS,
}

export const ARTIFACT_BOUNDS: Readonly<Record<ArtifactKind, ArtifactBounds>> = {
  artifact: FILES,
  response: { ...FILES, maximumAgeMs: 30 * DAY_MS },
  run: { ...FILES, maximumAgeMs: DAY_MS },
}

/** What is stored of a new artifact besides its bytes, with its id. Throws RangeError if it is too large. */
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

// Path separators, characters special to shells or Windows, control characters, marks that reverse the text direction.
const UNSAFE = /[\\/:*?"<>|\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu

/** A file name that no system mistakes for a path. If too long, it is cut, but for its extension. */
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

/** The media type, or `application/octet-stream` if it is not valid. */
function safeMediaType(mediaType: string): string {
  const lower = mediaType.toLowerCase()
  return MEDIA_TYPE.test(lower) ? lower : 'application/octet-stream'
}
