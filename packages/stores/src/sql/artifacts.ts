import { hash } from 'node:crypto'
import { AppError } from '@agent-server/lib/errors.ts'
import {
  ARTIFACT_BOUNDS,
  type ArtifactBounds,
  type ArtifactKind,
  type ArtifactStore,
  describeArtifact,
  type StoredArtifact,
} from '../artifact-store.ts'
import type { Clock } from './clock.ts'
import { insertInto } from './columns.ts'
import type { Dialect } from './dialect.ts'
import { bytes, integer, optionalText, type Read, type Row, type Tx, text } from './query.ts'

type NewRow = Omit<StoredArtifact, 'expiresAt' | 'link'> & {
  kind: ArtifactKind
  owner: string | undefined
  bytes: Uint8Array
}

/** Two of the writes of a store. */
interface ArtifactWrites {
  addArtifact(row: NewRow, bounds: ArtifactBounds): Promise<number>
  removeArtifact(id: string, kind: ArtifactKind, maximumAgeMs: number): Promise<boolean>
}

const LONG_MS = 30_000
const ARTIFACT = `SELECT name, media_type, size, created_at, bytes, digest FROM artifacts
  WHERE id = $1 AND kind = $2 AND created_at > now_ms() - $3
    AND (CAST($4 AS text) IS NULL OR owner = $4)`

/** Artifacts of one kind that every server on the database can read. The limits apply to all servers together. */
export function createArtifacts(
  read: Read,
  { addArtifact, removeArtifact }: ArtifactWrites,
  kind: ArtifactKind = 'artifact',
  ownBounds: Partial<ArtifactBounds> = {},
): ArtifactStore {
  const bounds = { ...ARTIFACT_BOUNDS[kind], ...ownBounds }
  const { maximumBytes, maximumAgeMs } = bounds

  return {
    maximumBytes,
    async add(file) {
      const described = describeArtifact(file, maximumBytes)
      const row = { ...described, kind, owner: file.owner, bytes: file.bytes }
      return { ...described, expiresAt: (await addArtifact(row, bounds)) + maximumAgeMs }
    },
    remove: (id) => removeArtifact(id, kind, maximumAgeMs),
    async read(id, owner) {
      const [row] = await read(ARTIFACT, [id, kind, maximumAgeMs, owner], LONG_MS)
      if (!row) return undefined
      if (!isWhole(row)) throw damaged(id)
      const artifact = {
        id,
        name: text(row, 'name'),
        mediaType: text(row, 'media_type'),
        size: integer(row, 'size'),
        expiresAt: integer(row, 'created_at') + maximumAgeMs,
      }
      return { artifact, bytes: bytes(row, 'bytes') }
    },
  }
}

/** Whether the bytes are as they were stored; those of earlier versions have no digest. */
export function isWhole(row: Row): boolean {
  const digest = optionalText(row, 'digest')
  return digest === undefined || digest === hash('sha256', bytes(row, 'bytes'))
}

function damaged(id: string): AppError {
  const message = `What is stored as "${id}" is not as it was stored (damaged on the disk): restore the database from a backup`
  return new AppError('store_unavailable', message)
}

const DROP_EXPIRED = 'DELETE FROM artifacts WHERE kind = $1 AND created_at <= now_ms() - $2'
const TOTALS = `SELECT count(*) AS count, CAST(coalesce(sum(size), 0) AS bigint) AS size
  FROM artifacts WHERE kind = $1`
// Files are removed from whoever has the most, counted up to each file, the newest first and the new one included. So
// nobody displaces the files of others.
const MAKE_ROOM = `DELETE FROM artifacts WHERE number IN (
    SELECT number FROM (
      SELECT number, row_number() OVER (ORDER BY own_place, number DESC) AS place,
        sum(size) OVER (ORDER BY own_sum, number DESC) AS sum
      FROM (
        SELECT number, size, is_own + row_number() OVER newest AS own_place,
          is_own * $3 + sum(size) OVER newest AS own_sum
        FROM (
          SELECT number, size, owner,
            CASE WHEN owner IS NOT DISTINCT FROM CAST($5 AS text) THEN 1 ELSE 0 END AS is_own
          FROM artifacts WHERE kind = $1
        ) AS all_kept WINDOW newest AS (PARTITION BY owner ORDER BY number DESC)
      ) AS owned
    ) AS kept WHERE place >= $2 OR sum + $3 > $4
  )`
const REMOVE = `DELETE FROM artifacts
  WHERE id = $1 AND kind = $2 AND created_at > now_ms() - $3`

export function createArtifactWrites(dialect: Dialect, clock: Clock) {
  return {
    /**
     * Adds an artifact in place of expired ones and, if there is no room, of the oldest of the owner with the most.
     * Returns when it expires.
     */
    async addArtifact(tx: Tx, row: NewRow, bounds: ArtifactBounds): Promise<number> {
      const { maximumAgeMs, maximumCount, maximumTotalBytes } = bounds
      const { mediaType, ...columns } = row
      // The number that orders artifacts by age is given out under the lock that makes the bounds exact.
      await dialect.exclude(tx, 'artifacts')
      const now = integer(await tx.one('SELECT now_ms() AS now'), 'now')
      if (await clock.isTrusted(tx)) await tx.run(DROP_EXPIRED, [row.kind, maximumAgeMs])
      const totals = await tx.one(TOTALS, [row.kind])
      if (
        integer(totals, 'count') >= maximumCount ||
        integer(totals, 'size') + row.size > maximumTotalBytes
      ) {
        const room = [row.kind, maximumCount, row.size, maximumTotalBytes, row.owner]
        await tx.run(MAKE_ROOM, room)
      }
      const digest = hash('sha256', row.bytes)
      await insertInto(tx, 'artifacts', {
        ...columns,
        media_type: mediaType,
        created_at: now,
        digest,
      })
      return now
    },

    async removeArtifact(tx: Tx, id: string, kind: ArtifactKind, maximumAgeMs: number) {
      return (await tx.run(REMOVE, [id, kind, maximumAgeMs])) > 0
    },
  }
}
