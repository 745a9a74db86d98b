import { untilAborted } from '../../lib/until-aborted.ts'
import { integer } from '../columns.ts'
import type { Database, Query } from './database.ts'
import { unavailable } from './postgres-error.ts'

const CHECK_MILLISECONDS = 5_000

const WRITE: Query = {
  name: 'check',
  text: `UPDATE agent_server.meta SET value = value + 1 WHERE name = 'last_check' RETURNING value`,
  milliseconds: CHECK_MILLISECONDS,
}
const READ: Query = {
  name: 'last_check',
  text: `SELECT value FROM agent_server.meta WHERE name = 'last_check'`,
  milliseconds: CHECK_MILLISECONDS,
}

/** Throws `store_unavailable` when the database does not take a write and give it back in time. */
export async function check(database: Database, signal: AbortSignal): Promise<void> {
  const look = async () => {
    const [written] = await database.write(WRITE)
    const [seen] = await database.read(READ)
    if (integer(seen, 'value') < integer(written, 'value')) throw new Error('A check was not read')
  }
  try {
    await untilAborted(look(), signal)
  } catch (error) {
    throw unavailable('The document store cannot be read and written', error)
  }
}
