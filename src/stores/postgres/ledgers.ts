import { setTimeout as pause } from 'node:timers/promises'
import { integer, text } from '../columns.ts'
import type { OpenLedger } from '../ledger.ts'
import type { Database, Query } from './database.ts'
import { unavailable } from './postgres-error.ts'

/** Servers that change one at the same time are few, and do so at their start or when an operator accepts. */
const MOST_TRIES = 20
const PAUSE_MILLISECONDS = 20
/** Of what is not there yet. */
const NEW = 0

const READ: Query = {
  name: 'ledger',
  text: 'SELECT version, content FROM agent_server.ledgers WHERE name = $1',
}
const WRITE: Query = {
  name: 'write_ledger',
  text: `INSERT INTO agent_server.ledgers AS known (name, version, content)
    VALUES ($1, $2::bigint + 1, $3)
    ON CONFLICT (name) DO UPDATE SET version = excluded.version, content = excluded.content
      WHERE known.version = $2::bigint
    RETURNING version`,
}

/** Ledgers that all servers on the database share. A change is made to what it was reckoned from, or reckoned anew. */
export function createLedgers(database: Pick<Database, 'read' | 'write'>): OpenLedger {
  return async (name, schema, initial) => {
    const find = async () => {
      const [row] = await database.read(READ, [name])
      if (!row) return { version: NEW, content: initial }
      return { version: integer(row, 'version'), content: parse(text(row, 'content')) }
    }
    const parse = (content: string) => {
      try {
        return schema.parse(JSON.parse(content))
      } catch (error) {
        const message = `${name} in the table agent_server.ledgers is not of this version; mend it or remove it`
        throw new Error(message, { cause: error })
      }
    }
    await find()

    return {
      read: async () => (await find()).content,
      async update(change) {
        for (let tries = 1; tries <= MOST_TRIES; tries++) {
          const { version, content } = await find()
          const changed = change(content)
          const written = await database.write(WRITE, [name, version, JSON.stringify(changed)])
          if (written.length > 0) return changed
          await pause(Math.random() * PAUSE_MILLISECONDS * tries)
        }
        throw unavailable(`Too many servers change ${name} at the same time`)
      },
    }
  }
}
