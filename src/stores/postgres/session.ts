import pg from 'pg'
import type { Row } from '../columns.ts'
import { toParameter, type Value } from './parameter.ts'
import { connectionSettings } from './pool.ts'

const STATEMENT_MILLISECONDS = 600_000

/** A connection of its own, for what takes more than one statement and is nobody's wait. */
export interface Session {
  run(text: string, values?: readonly Value[]): Promise<Row[]>
  /** Ends the connection, and a transaction that is not committed with it. */
  close(): Promise<void>
}

/** Rejects with the client library's errors. `onLost` hears that the connection has ended, however that came. */
export async function openSession(url: string, onLost = () => undefined): Promise<Session> {
  const client = new pg.Client({
    ...connectionSettings(url),
    // Whoever takes the records of a corpus may be slow, and waits for locks as long as it takes.
    idle_in_transaction_session_timeout: 0,
    ...{ statement_timeout: STATEMENT_MILLISECONDS, lock_timeout: STATEMENT_MILLISECONDS },
  })
  // A connection that breaks rejects the statement under way; the event comes beside it.
  client.on('error', onLost)
  client.on('end', onLost)
  await client.connect()
  return {
    async run(text, values = []) {
      return (await client.query<Row>(text, values.map(toParameter))).rows
    },
    close: () => client.end().catch(() => undefined),
  }
}
