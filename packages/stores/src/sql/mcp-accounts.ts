import type { McpAccountStore, StoredMcpAccount } from '../people-store.ts'
import { type Columns, insertInto, plain, readAll, writeAll } from './columns.ts'
import { integer, type Read, readOne, type Tx, text } from './query.ts'

const ACCOUNT: Columns<StoredMcpAccount> = {
  owner: plain('owner', text),
  connection: plain('connection', text),
  sealed: plain('sealed', text),
  connectedAt: plain('connected_at', integer),
}
const THIS = 'owner = $1 AND connection = $2'
const REPLACE = `ON CONFLICT (owner, connection) DO UPDATE SET sealed = excluded.sealed,
  connected_at = excluded.connected_at, claimed_at = excluded.claimed_at`

export function createMcpAccountReads(read: Read): Pick<McpAccountStore, 'find'> {
  return {
    find: ({ owner, connection }) =>
      readOne(read, `SELECT * FROM mcp_accounts WHERE ${THIS}`, [owner, connection], (row) =>
        readAll(ACCOUNT, row),
      ),
  }
}

/** Changes nothing: removing a person waits for it, and then takes the account along. */
const LOCK_PERSON = 'UPDATE people SET last_seen_at = last_seen_at WHERE id = $1'
const CLAIM = `UPDATE mcp_accounts SET claimed_at = $6 WHERE ${THIS} AND sealed = $3
  AND (claimed_at <= $4 OR claimed_at > $5)`

type Of<Name extends keyof McpAccountStore> = Parameters<McpAccountStore[Name]>

export const MCP_ACCOUNT_WRITES = {
  async saveMcpAccount(tx: Tx, account: StoredMcpAccount): Promise<boolean> {
    const { owner } = account
    if (owner !== 'master' && (await tx.run(LOCK_PERSON, [owner])) === 0) return false
    const row = { ...writeAll(ACCOUNT, account), claimed_at: 0 }
    await insertInto(tx, 'mcp_accounts', row, REPLACE)
    return true
  },

  async claimMcpAccount(tx: Tx, ...[account, free, at]: Of<'claim'>): Promise<boolean> {
    const { owner, connection, sealed } = account
    const values = [owner, connection, sealed, free.until, free.after, at]
    return (await tx.run(CLAIM, values)) > 0
  },

  async renewMcpAccount(tx: Tx, ...[account, next]: Of<'renew'>): Promise<boolean> {
    const { owner, connection, sealed } = account
    const statement = `UPDATE mcp_accounts SET sealed = $4, claimed_at = 0 WHERE ${THIS} AND sealed = $3`
    return (await tx.run(statement, [owner, connection, sealed, next])) > 0
  },

  async removeMcpAccount(tx: Tx, ...[account]: Of<'remove'>): Promise<boolean> {
    const { owner, connection, sealed } = account
    const statement = `DELETE FROM mcp_accounts WHERE ${THIS}`
    if (sealed === undefined) return (await tx.run(statement, [owner, connection])) > 0
    return (await tx.run(`${statement} AND sealed = $3`, [owner, connection, sealed])) > 0
  },
}
