import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { IngestionJob } from '../document-store.ts'
import { integer } from '../rows.ts'
import type { Database, Query } from './database.ts'
import { toStoreError, unavailable } from './error.ts'
import { LOCK } from './migrate.ts'
import { openSession, type Session } from './pool.ts'

/** How long after its last sign of life a server's claims are taken over by others. */
const LEASE_MS = 30_000
/** So that two renewals may fail before a lease ends. */
const RENEWALS_PER_LEASE = 4

const RENEW: Query = {
  name: 'renew_claims',
  text: 'SELECT claim FROM agent_server.renew_claims($1::bigint[], $2, $3) AS claim',
}
const END: Query = { text: 'SELECT agent_server.end_leases($1)', milliseconds: 2_000 }

export interface Leases {
  /** Names this server among those that claim; never the same again. */
  readonly owner: string
  readonly milliseconds: number
  /** The claims that this server works on. */
  inHand(): number[]
  hold(jobs: readonly Pick<IngestionJob, 'claim'>[]): void
  letGo(claim: number): void
  /** Ends all leases, so that others go on at once. Throws nothing: they end by themselves otherwise. */
  close(): Promise<void>
}

interface Dependencies {
  database: Pick<Database, 'write'>
  log: { warn(fields: object, message: string): void }
  milliseconds?: number | undefined
}

/** Renews the leases of the claims in hand until closed. */
export function createLeases({ database, log, milliseconds = LEASE_MS }: Dependencies): Leases {
  const owner = randomUUID()
  const claims = new Set<number>()
  const stopped = new AbortController()

  const renew = async () => {
    const asked = [...claims]
    if (asked.length === 0) return
    const rows = await database.write(RENEW, [asked, owner, milliseconds])
    const renewed = new Set(rows.map((row) => integer(row, 'claim')))
    const missing = asked.filter((claim) => !renewed.has(claim) && claims.has(claim))
    // Either ended this very moment, or taken over: what comes of it will be refused.
    if (missing.length > 0) log.warn({ claims: missing.length }, 'leases of claims not renewed')
  }

  const keepRenewing = async () => {
    while (!stopped.signal.aborted) {
      try {
        await pause(milliseconds / RENEWALS_PER_LEASE, undefined, {
          signal: stopped.signal,
          ref: false,
        })
        await renew()
      } catch (error) {
        if (!stopped.signal.aborted) log.warn({ err: error }, 'leases of claims not renewed')
      }
    }
  }
  const renewing = keepRenewing()

  return {
    owner,
    milliseconds,
    inHand: () => [...claims],
    hold(jobs) {
      for (const { claim } of jobs) claims.add(claim)
    },
    letGo: (claim) => void claims.delete(claim),
    async close() {
      stopped.abort()
      await renewing
      claims.clear()
      await database.write(END, [owner]).catch((error: unknown) => {
        log.warn({ err: error }, 'leases not ended; others take over when they end by themselves')
      })
    },
  }
}

interface Held {
  url: string
  /** Tells it from our other locks. */
  lock: number
}

/**
 * Does `work` while this process alone holds the lock, for as long as it takes: the lock is a connection's, and ends
 * with it, whatever ends it; `work` is then aborted. False, and nothing is done, where somebody else holds it.
 */
export async function holdLock(
  { url, lock }: Held,
  work: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<boolean> {
  signal.throwIfAborted()
  const lost = new AbortController()
  const onLost = () => void lost.abort(unavailable('The connection that kept others out has ended'))
  const session = await open(url, onLost)
  try {
    if (!(await take(session, lock))) return false
    await work(AbortSignal.any([signal, lost.signal]))
    return true
  } finally {
    await session.close()
  }
}

async function open(url: string, onLost: () => undefined): Promise<Session> {
  try {
    return await openSession(url, onLost)
  } catch (error) {
    throw toStoreError(error)
  }
}

async function take(session: Session, lock: number): Promise<boolean> {
  try {
    const [row] = await session.run(`SELECT pg_try_advisory_lock(${LOCK}, ${lock}) AS taken`)
    return row?.taken === true
  } catch (error) {
    throw toStoreError(error)
  }
}
