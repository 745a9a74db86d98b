import { toHalfFloats } from '../chunk-codec.ts'
import type {
  ChunkVectors,
  Claim,
  DocumentStore,
  IngestionJob,
  NewChunk,
} from '../document-store.ts'
import type { FileStore } from '../file-store.ts'
import { integer, optionalText, type Row, text, toFile, toMetadata } from '../rows.ts'
import { chunkColumns } from './chunks.ts'
import { gatherChunkBatches } from './codec.ts'
import type { Database, Query } from './database.ts'
import { keysIn } from './documents.ts'
import { EmbeddingError } from './error.ts'
import type { Leases } from './leases.ts'

// What one claim may bring into memory, one text longer than that excepted.
const MAX_JOBS_PER_CLAIM = 256
const MAX_CHARACTERS_PER_CLAIM = 16 * 2 ** 20
/** A large document brings tens of thousands of chunks. */
const LONG_MS = 60_000

const CLAIM: Query = {
  name: 'claim_documents',
  text: 'SELECT * FROM agent_server.claim_documents($1, $2, $3, $4::bigint[], $5)',
  milliseconds: LONG_MS,
}
const RECOVER: Query = { text: 'SELECT agent_server.recover_jobs($1) AS jobs' }
const COMPLETE: Query = {
  name: 'complete_job',
  text: `SELECT agent_server.complete_job($1, $2, $3::bigint[], $4::integer[], $5::integer[], $6::integer[], $7::text[],
    $8::text[], $9::integer[], $10::integer[], $11, $12, $13, $14, $15) AS keys`,
  milliseconds: LONG_MS,
}
const FAIL: Query = {
  name: 'fail_job',
  text: 'SELECT agent_server.fail_job($1, $2, $3, $4, $5) AS done',
}
const RELEASE: Query = {
  name: 'release_job',
  text: 'SELECT agent_server.release_job($1, $2, $3, $4)',
}

interface Dependencies {
  database: Pick<Database, 'write'>
  leases: Leases
  files: Pick<FileStore, 'readStaged' | 'dropFile'>
  /** Says that there is a job to claim that was not there before. */
  jobCame: () => void
  /** Says that a document is ready, or has failed. */
  documentEnded: (id: string) => void
}

/** Claims jobs for as long as their leases are renewed, and ends them. */
export function createJobWrites({
  database,
  leases,
  files,
  jobCame,
  documentEnded,
}: Dependencies): Pick<
  DocumentStore,
  'recoverJobs' | 'claimJobs' | 'completeJob' | 'completeStaged' | 'failJob' | 'releaseJob'
> {
  const complete = async (
    job: Claim,
    { chunks, vectors }: { chunks: readonly NewChunk[]; vectors: ChunkVectors | undefined },
    readText: string | undefined,
    characters: number | undefined,
  ) => {
    const values = [
      ...[job.documentId, job.claim, ...chunkColumns(chunks)],
      ...vectorColumns(chunks, vectors),
      ...[readText, characters],
    ]
    const [row] = await database.write(COMPLETE, values).catch(nameEmbedding(vectors))
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
      const values = [most, MAX_CHARACTERS_PER_CLAIM, owner, leases.inHand(), milliseconds]
      const jobs = (await database.write(CLAIM, values)).map(toJob)
      leases.hold(jobs)
      return jobs
    },

    completeJob: (job, chunks, vectors, readText) =>
      complete(job, { chunks, vectors }, readText, readText?.length),

    async completeStaged(job, kept) {
      const gathered = await gatherChunkBatches(files.readStaged(kept.file), kept)
      const keys = await complete(job, gathered, undefined, kept.characters)
      if (keys) await files.dropFile(kept.file)
      return keys
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
      // Whoever releases does no more work on it: if this fails, its lease ends by itself.
      leases.letGo(job.claim)
      await database.write(RELEASE, [job.documentId, job.claim, failure?.code, failure?.message])
      jobCame()
    },
  }
}

function vectorColumns(chunks: readonly NewChunk[], vectors: ChunkVectors | undefined) {
  if (!vectors) return [undefined, undefined, undefined]
  const { model, dimension, values } = vectors
  if (values.length !== chunks.length * dimension) {
    throw new RangeError(`${values.length} numbers are no vectors of ${chunks.length} chunks`)
  }
  return [model, dimension, toHalfFloats(values)]
}

function nameEmbedding(vectors: ChunkVectors | undefined) {
  return (error: unknown): never => {
    if (!(error instanceof EmbeddingError) || !vectors) throw error
    const { model, dimension } = vectors
    throw new Error(`Vectors of ${model} (${dimension}) do not go with those that are kept`)
  }
}

function toJob(row: Row): IngestionJob {
  return {
    documentId: text(row, 'id'),
    revision: integer(row, 'revision'),
    claim: integer(row, 'claim'),
    attempt: integer(row, 'attempts'),
    title: optionalText(row, 'title'),
    url: optionalText(row, 'url'),
    metadata: toMetadata(row),
    text: text(row, 'text'),
    file: toFile(row),
  }
}
