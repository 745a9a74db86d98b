import { ARTIFACT_BOUNDS, type ArtifactBounds, type ArtifactStore } from '../artifact-store.ts'
import { integer, text } from '../columns.ts'
import { describeArtifact } from '../describe-artifact.ts'
import type { Database, Query } from './database.ts'
import { readSlices, SLICE_BYTES } from './read-slices.ts'

const LONG_MILLISECONDS = 30_000

const ADD: Query = {
  name: 'add_artifact',
  text: 'SELECT agent_server.add_artifact($1, $2, $3, $4, $5, $6, $7) AS created_at',
  milliseconds: LONG_MILLISECONDS,
}
const SLICE: Query = {
  name: 'artifact_slice',
  text: `SELECT name, media_type, size, created_at, substring(bytes FROM $3 FOR ${SLICE_BYTES}) AS bytes
    FROM agent_server.artifacts WHERE id = $1 AND created_at > agent_server.now_ms() - $2`,
}

/** Artifacts that every server on the database can read. The bounds are those of all servers together. */
export function createArtifacts(
  database: Pick<Database, 'read' | 'write'>,
  bounds: Partial<ArtifactBounds> = {},
): ArtifactStore {
  const { maximumBytes, maximumTotalBytes, maximumCount, maximumAgeMilliseconds } = {
    ...ARTIFACT_BOUNDS,
    ...bounds,
  }

  return {
    maximumBytes,

    async add(file) {
      const described = describeArtifact(file, maximumBytes)
      const { id, name, mediaType } = described
      const [row] = await database.write(ADD, [
        ...[id, name, mediaType, file.bytes],
        ...[maximumCount, maximumTotalBytes, maximumAgeMilliseconds],
      ])
      return { ...described, expiresAt: integer(row, 'created_at') + maximumAgeMilliseconds }
    },

    async read(id) {
      const found = await readSlices((place) =>
        database.read(SLICE, [id, maximumAgeMilliseconds, place]),
      )
      if (!found) return undefined
      const { row, bytes } = found
      const described = { name: text(row, 'name'), mediaType: text(row, 'media_type') }
      const expiresAt = integer(row, 'created_at') + maximumAgeMilliseconds
      return { artifact: { id, ...described, size: bytes.length, expiresAt }, bytes }
    },
  }
}
