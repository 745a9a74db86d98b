import { hash } from 'node:crypto'
import { optionalText, text } from '../columns.ts'
import type { SkillCopies } from '../skill-copies.ts'
import type { Database, Query } from './database.ts'
import { readSlices, SLICE_BYTES } from './read-slices.ts'

/** A copy may hold a whole repository. */
const LONG_MILLISECONDS = 60_000

const ACCEPTED: Query = {
  name: 'accepted_skills',
  text: 'SELECT digest FROM agent_server.skill_copies WHERE source = $1',
}
// The digest keeps slices of two copies apart, where one takes the place of the other meanwhile.
const SLICE: Query = {
  name: 'skill_copy_slice',
  text: `SELECT digest, length(bytes) AS size, substring(bytes FROM $3 FOR ${SLICE_BYTES}) AS bytes
    FROM agent_server.skill_copies WHERE source = $1 AND digest = $2`,
}
const KEEP: Query = {
  name: 'keep_skills',
  text: `INSERT INTO agent_server.skill_copies AS kept (source, digest, bytes) VALUES ($1, $2, $3)
    ON CONFLICT (source) DO UPDATE SET digest = excluded.digest, bytes = excluded.bytes
      WHERE kept.digest = $4
    RETURNING digest`,
  milliseconds: LONG_MILLISECONDS,
}

/** Copies that all servers on the database share. */
export function createSkillCopies(database: Pick<Database, 'read' | 'write'>): SkillCopies {
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
      const found = await readSlices((place) => database.read(SLICE, [name, digest, place]))
      return found && { digest: text(found.row, 'digest'), bytes: found.bytes }
    },

    async keep(source, { digest, bytes }, known) {
      const name = nameOf(source)
      if (digest === known && (await accepted(name)) === known) return true
      return (await database.write(KEEP, [name, digest, bytes, known])).length > 0
    },
  }
}

function nameOf(source: string): string {
  return hash('sha256', source)
}
