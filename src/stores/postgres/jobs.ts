import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { StaleKeysError } from '../chunk-keys.ts'
import type { Claim, DocumentStore, IngestionJob, NewChunk } from '../document-store.ts'
import type { FileStore } from '../file-store.ts'
import { integer, toJob } from '../sql/rows.ts'
import type { CountedTerms } from '../term-counts.ts'
import { chunkColumns, termColumns } from './chunks.ts'
import { gatherChunkBatches, keysIn } from './codec.ts'
import type { Database } from './database.ts'

// The most that one claim may load into memory; a single text may be longer.
const MAX_JOBS_PER_CLAIM = 256
const MAX_CHARACTERS_PER_CLAIM = 16 * 2 ** 20
/** A large document has tens of thousands of chunks. */
const LONG_MS = 60_000

const CLAIM = 'SELECT * FROM agent_server.claim_documents($1, $2, $3, $4::bigint[], $5)'
const RECOVER = 'SELECT agent_server.recover_jobs($1) AS jobs'
const COMPLETE = `SELECT agent_server.with_terms(
  agent_server.complete_job($1, $2, $3::bigint[], $4::integer[], $5::integer[], $6::integer[], $7::text[],
    $8::text[], $9::integer[], $10::integer[], NULL, NULL, NULL, $11, $12),
  $1, $13, $14, $15, $16, $17) AS keys`
const FAIL = 'SELECT agent_server.fail_job($1, $2, $3, $4, $5) AS done'
/** The notes go to the file of a pending replacement if there is one, otherwise to that of the document. */
const NOTE = `WITH job AS (
    SELECT jobs.document FROM agent_server.documents
    JOIN agent_server.jobs ON jobs.document = documents.number
    WHERE documents.id = $1 AND jobs.claim = $2
  ), replaced AS (
    UPDATE agent_server.replacements AS new
    SET file = jsonb_set(new.file::jsonb, '{notes}', $3::jsonb)::text
    FROM job WHERE new.document = job.document RETURNING new.document
  )
  UPDATE agent_server.documents SET file = jsonb_set(file::jsonb, '{notes}', $3::jsonb)::text
  FROM job WHERE number = job.document AND NOT EXISTS (SELECT FROM replaced)`
const RELEASE = 'SELECT agent_server.release_job($1, $2, $3, $4)'

interface Dependencies {
  database: Database
  leases: Leases
  files: Pick<FileStore, 'readStaged' | 'dropStaged'>
  /** Discards the reserved chunk keys that are left. */
  dropKeys: () => void
  /** Signals that there is a new job to claim. */
  jobCame: () => void
  /** Signals that a document is ready or has failed. */
  documentEnded: (id: string) => void
}

/** Claims jobs, which are held as long as their leases are renewed, and ends the claims. */
export function createJobWrites({
  database,
  leases,
  files,
  dropKeys,
  jobCame,
  documentEnded,
}: Dependencies): Pick<
  DocumentStore,
  | 'recoverJobs'
  | 'claimJobs'
  | 'completeJob'
  | 'completeStaged'
  | 'noteFile'
  | 'failJob'
  | 'releaseJob'
> {
  const complete = async (
    job: Claim,
    chunks: readonly NewChunk[],
    readText: string | undefined,
    characters: number | undefined,
    terms: CountedTerms | undefined,
  ) => {
    const values = [
      ...[job.documentId, job.claim, ...chunkColumns(chunks)],
      ...[readText, characters, ...termColumns(terms)],
    ]
    const [row] = await database.write(COMPLETE, values, LONG_MS).catch((error: unknown) => {
      if (error instanceof StaleKeysError) dropKeys()
      throw error
    })
    leases.letGo(job.claim)
    const keys = keysIn(row)
    if (keys) documentEnded(job.documentId)
    return keys
  }

  return {
    async recoverJobs() {
      const [row] = await database.write(RECOVER, [leases.owner])
      return integer(row, 'jobs')
    },

    async claimJobs(limit) {
      const most = Math.max(0, Math.min(limit, MAX_JOBS_PER_CLAIM))
      if (most === 0) return []
      const { owner, milliseconds } = leases
      const values = [most, MAX_CHARACTERS_PER_CLAIM, owner, leases.held(), milliseconds]
      const jobs = (await database.write(CLAIM, values, LONG_MS)).map(toJob)
      leases.hold(jobs)
      return jobs
    },

    completeJob: (job, chunks, readText, terms) =>
      complete(job, chunks, readText, readText?.length, terms),

    async completeStaged(job, kept, terms) {
      const gathered = await gatherChunkBatches(files.readStaged(kept.file), kept)
      const keys = await complete(job, gathered, undefined, kept.characters, terms)
      if (keys) await files.dropStaged(kept.file)
      return keys
    },

    async noteFile(job, notes) {
      await database.write(NOTE, [job.documentId, job.claim, JSON.stringify(notes)])
    },

    async failJob(job, { code, message }, retryAt) {
      const values = [job.documentId, job.claim, code, message, retryAt]
      const [row] = await database.write(FAIL, values)
      leases.letGo(job.claim)
      const isCurrent = row?.done === true
      if (isCurrent && retryAt === undefined) documentEnded(job.documentId)
      return isCurrent
    },

    async releaseJob(job, failure) {
      // This server no longer works on the document; if the write fails, the lease just expires.
      leases.letGo(job.claim)
      await database.write(RELEASE, [job.documentId, job.claim, failure?.code, failure?.message])
      jobCame()
    },
  }
}

/** How long after a server's last sign of life other servers take over its claims. */
const LEASE_MS = 30_000
/** Chosen so that two renewals may fail before a lease expires. */
const RENEWALS_PER_LEASE = 4
const END_MS = 2_000

const RENEW = 'SELECT claim FROM agent_server.renew_claims($1::bigint[], $2, $3) AS claim'
const END = 'SELECT agent_server.end_leases($1)'

type Leases = ReturnType<typeof createLeases>

interface LeaseDependencies {
  database: Database
  log: { warn(fields: object, message: string): void }
  milliseconds?: number | undefined
}

/** Renews the leases of current claims until closed. */
export function createLeases({ database, log, milliseconds = LEASE_MS }: LeaseDependencies) {
  const owner = randomUUID()
  const claims = new Set<number>()
  const stopped = new AbortController()

  const renew = async () => {
    const asked = [...claims]
    if (asked.length === 0) return
    const rows = await database.write(RENEW, [asked, owner, milliseconds])
    const renewed = new Set(rows.map((row) => integer(row, 'claim')))
    const missing = asked.filter((claim) => !renewed.has(claim) && claims.has(claim))
    // Either the claim has just ended, or another server has taken it over and our result will be refused.
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
    /** Identifies this server among those that claim; different after each start. */
    owner,
    milliseconds,
    /** The claims that this server is working on. */
    held: () => [...claims],
    hold(jobs: readonly Pick<IngestionJob, 'claim'>[]) {
      for (const { claim } of jobs) claims.add(claim)
    },
    letGo: (claim: number) => void claims.delete(claim),
    /** Ends all leases, so that others can continue at once. Never throws: leases also expire by themselves. */
    async close() {
      stopped.abort()
      await renewing
      claims.clear()
      await database.write(END, [owner], END_MS).catch((error: unknown) => {
        log.warn({ err: error }, 'leases not ended; others take over when they end by themselves')
      })
    },
  }
}
