import { hash } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import {
  ARTIFACT_BOUNDS,
  type ArtifactBounds,
  type ArtifactStore,
  describeArtifact,
} from '../artifact-store.ts'
import { type OpenLockFile, parseLockFile } from '../lock-file.ts'
import type { SkillCopies } from '../skill-copies.ts'
import { integer, optionalText, text } from '../sql/rows.ts'
import { readSlices, SLICE_BYTES } from './codec.ts'
import type { Database } from './database.ts'
import { unavailable } from './error.ts'

const LONG_MS = 30_000

const ADD = 'SELECT agent_server.add_artifact($1, $2, $3, $4, $5, $6, $7, $8, $9) AS created_at'
const SLICE = `SELECT name, media_type, size, created_at, substring(bytes FROM $3 FOR ${SLICE_BYTES}) AS bytes
  FROM agent_server.artifacts WHERE id = $1 AND kind = $4 AND created_at > agent_server.now_ms() - $2
    AND ($5::text IS NULL OR owner = $5)`
const REMOVE = `DELETE FROM agent_server.artifacts
  WHERE id = $1 AND kind = $2 AND created_at > agent_server.now_ms() - $3 RETURNING id`

/** Artifacts of one kind that every server on the database can read. The limits apply to all servers together. */
export function createArtifacts(
  database: Database,
  bounds: Partial<ArtifactBounds> = {},
  kind: 'artifact' | 'response' = 'artifact',
): ArtifactStore {
  const { maximumBytes, maximumTotalBytes, maximumCount, maximumAgeMs } = {
    ...ARTIFACT_BOUNDS,
    ...bounds,
  }

  return {
    maximumBytes,

    async add(file) {
      const described = describeArtifact(file, maximumBytes)
      const { id, name, mediaType } = described
      const [row] = await database.write(
        ADD,
        [
          ...[id, name, mediaType, file.bytes],
          ...[maximumCount, maximumTotalBytes, maximumAgeMs, kind, file.owner],
        ],
        LONG_MS,
      )
      return { ...described, expiresAt: integer(row, 'created_at') + maximumAgeMs }
    },

    remove: async (id) => (await database.write(REMOVE, [id, kind, maximumAgeMs])).length > 0,

    async read(id, owner) {
      const found = await readSlices((place) =>
        database.read(SLICE, [id, maximumAgeMs, place, kind, owner]),
      )
      if (!found) return undefined
      const { row, bytes } = found
      const described = { name: text(row, 'name'), mediaType: text(row, 'media_type') }
      const expiresAt = integer(row, 'created_at') + maximumAgeMs
      return { artifact: { id, ...described, size: bytes.length, expiresAt }, bytes }
    },
  }
}

/** Few servers change a lock file at the same time: at startup, or when an operator accepts something. */
const MAX_TRIES = 20
const PAUSE_MS = 20
/** The version of a lock file that does not exist yet. */
const NEW = 0

const READ = 'SELECT version, content FROM agent_server.ledgers WHERE name = $1'
const WRITE = `INSERT INTO agent_server.ledgers AS known (name, version, content)
  VALUES ($1, $2::bigint + 1, $3)
  ON CONFLICT (name) DO UPDATE SET version = excluded.version, content = excluded.content
    WHERE known.version = $2::bigint
  RETURNING version`

/** Lock files shared by all servers on the database. A change is computed again if another one came in between. */
export function createLockFiles(database: Database): OpenLockFile {
  return async (name, schema, initial) => {
    const refusal = `${name} in the table agent_server.ledgers is not of this version`
    const find = async () => {
      const [row] = await database.read(READ, [name])
      if (!row) return { version: NEW, content: initial }
      return {
        version: integer(row, 'version'),
        content: parseLockFile(text(row, 'content'), schema, refusal),
      }
    }
    await find()

    return {
      read: async () => (await find()).content,
      async update(change) {
        for (let tries = 1; tries <= MAX_TRIES; tries++) {
          const { version, content } = await find()
          const changed = change(content)
          const written = await database.write(WRITE, [name, version, JSON.stringify(changed)])
          if (written.length > 0) return changed
          await pause(Math.random() * PAUSE_MS * tries)
        }
        throw unavailable(`Too many servers change ${name} at the same time`)
      },
    }
  }
}

/** A copy may contain a whole repository. */
const COPY_MS = 60_000

const ACCEPTED = 'SELECT digest FROM agent_server.skill_copies WHERE source = $1'
// The digest keeps slices of two copies apart, in case one replaces the other in between.
const COPY_SLICE = `SELECT digest, length(bytes) AS size, substring(bytes FROM $3 FOR ${SLICE_BYTES}) AS bytes
  FROM agent_server.skill_copies WHERE source = $1 AND digest = $2`
const KEEP = `INSERT INTO agent_server.skill_copies AS kept (source, digest, bytes) VALUES ($1, $2, $3)
  ON CONFLICT (source) DO UPDATE SET digest = excluded.digest, bytes = excluded.bytes
    WHERE kept.digest = $4
  RETURNING digest`

/** Copies shared by all servers on the database. */
export function createSkillCopies(database: Database): SkillCopies {
  const accepted = async (name: string) => {
    const [row] = await database.read(ACCEPTED, [name])
    return row && optionalText(row, 'digest')
  }

  return {
    accepted: (source) => accepted(nameOf(source)),

    async read(source) {
      const name = nameOf(source)
      const digest = await accepted(name)
      if (digest === undefined) return undefined
      const found = await readSlices((place) => database.read(COPY_SLICE, [name, digest, place]))
      return found && { digest: text(found.row, 'digest'), bytes: found.bytes }
    },

    async keep(source, { digest, bytes }, known) {
      const name = nameOf(source)
      if (digest === known && (await accepted(name)) === known) return true
      return (await database.write(KEEP, [name, digest, bytes, known], COPY_MS)).length > 0
    },
  }
}

function nameOf(source: string): string {
  return hash('sha256', source)
}
