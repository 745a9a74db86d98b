import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Log } from '@agent-server/lib/log.ts'
import type { IngestionJob } from '../document-store.ts'
import type { Claimant } from '../sql/jobs.ts'
import type { WriteCalls } from '../sql/writes.ts'

/** How long after a server's last renewal other servers take over its claims. */
const LEASE_MS = 30_000
/** Chosen so that two renewals may fail before a lease expires. */
const RENEWALS_PER_LEASE = 4

interface LeaseDependencies {
  write: Pick<WriteCalls, 'renewClaims' | 'endLeases'>
  log: Pick<Log, 'warn'>
  milliseconds?: number | undefined
}

/** Renews the leases of current claims until closed. */
export function createLeases({ write, log, milliseconds = LEASE_MS }: LeaseDependencies) {
  const owner = randomUUID()
  const claims = new Set<number>()
  const stopped = new AbortController()

  const renew = async () => {
    const current = [...claims]
    if (current.length === 0) return
    const renewed = new Set(await write.renewClaims(current, { owner, leaseMs: milliseconds }))
    const missing = current.filter((claim) => !renewed.has(claim) && claims.has(claim))
    // Either the claim has just ended, or another server has taken it over and our result will be refused.
    if (missing.length > 0) log.warn({ claims: missing.length }, 'renewing leases failed')
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
        if (!stopped.signal.aborted) log.warn({ err: error }, 'renewing leases failed')
      }
    }
  }
  const renewing = keepRenewing()

  return {
    /** The owner identifies this server among those that claim; different after each start. */
    claimant: (): Claimant => ({ owner, leaseMs: milliseconds, claims: [...claims] }),
    track(jobs: readonly Pick<IngestionJob, 'claim'>[]) {
      for (const { claim } of jobs) claims.add(claim)
    },
    release: (claim: number) => void claims.delete(claim),
    /** Ends all leases, so that others can continue at once. Never throws: leases also expire by themselves. */
    async close() {
      stopped.abort()
      await renewing
      claims.clear()
      await write.endLeases(owner).catch((error: unknown) => {
        log.warn({ err: error }, 'ending leases failed; other servers take over when they expire')
      })
    },
  }
}
