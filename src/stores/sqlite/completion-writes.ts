import type { DatabaseSync, SQLTagStore } from 'node:sqlite'
import { freeYoungMemory } from '../../lib/free-young-memory.ts'
import { createParcelReader } from '../chunk-parcel.ts'
import { bytes, integer } from '../columns.ts'
import type { ChunkVectors, Claim, KeptChunks, NewChunk } from '../document-store.ts'
import { withSmallCache } from './connection.ts'
import { insertChunk, selectCurrent } from './job-writes.ts'
import { insertVectors } from './vector-writes.ts'

interface Completion {
  document: number
  revision: number
  /** The keys of the chunks that made room. */
  replaced: number[]
}

/** How a claimed document becomes ready. Each write runs inside a transaction of the caller's. */
export function createCompletionWrites(database: DatabaseSync, sql: SQLTagStore) {
  const insert = (
    { document, revision }: Completion,
    chunks: readonly NewChunk[],
    vectors: ChunkVectors | undefined,
  ) => {
    for (const chunk of chunks) insertChunk(sql, document, revision, chunk)
    if (vectors) insertVectors(sql, chunks, vectors)
  }

  /** In bounded memory, however many there are. */
  const insertKept = (completion: Completion, { file, firstKey, count }: KeptChunks) => {
    const reader = createParcelReader()
    let ordinal = 0
    for (const piece of piecesOf(sql, file)) {
      for (const { chunks, vectors } of reader.push(piece)) {
        const first = ordinal
        const keyed = chunks.map((chunk, i) => ({
          ...chunk,
          ordinal: first + i,
          key: firstKey + first + i,
        }))
        insert(completion, keyed, vectors)
        ordinal += chunks.length
      }
      freeYoungMemory()
    }
    if (ordinal !== count) throw new Error(`There are ${ordinal} kept chunks instead of ${count}`)
    sql.run`DELETE FROM files WHERE number = ${file} AND document IS NULL`
  }

  return {
    completeJob(input: {
      claim: Claim
      chunks: readonly NewChunk[]
      vectors?: ChunkVectors | undefined
      text?: string | undefined
    }): number[] | undefined {
      const completion = begin(sql, input.claim)
      if (!completion) return undefined
      const { chunks, vectors, text } = input
      insert(completion, chunks, vectors)
      end(sql, completion, chunks.length)
      if (text !== undefined) setText(sql, completion, text)
      return completion.replaced
    },

    completeKept(input: { claim: Claim; kept: KeptChunks }): number[] | undefined {
      const completion = begin(sql, input.claim)
      if (!completion) return undefined
      withSmallCache(database, () => insertKept(completion, input.kept))
      end(sql, completion, input.kept.count)
      setCharacters(sql, completion, input.kept.characters)
      return completion.replaced
    },
  }
}

function* piecesOf(sql: SQLTagStore, file: number): Generator<Uint8Array> {
  for (let ordinal = 0; ; ordinal++) {
    const row = sql.get`SELECT bytes FROM file_pieces WHERE file = ${file} AND ordinal = ${ordinal}`
    if (!row) return
    yield bytes(row, 'bytes')
  }
}

function begin(sql: SQLTagStore, claim: Claim): Completion | undefined {
  const current = selectCurrent(sql, claim)
  if (!current) return undefined
  const { document, revision } = current
  const replaced = sql.all`SELECT key FROM chunks WHERE document = ${document}`
  sql.run`DELETE FROM chunks WHERE document = ${document}`
  sql.run`DELETE FROM contents WHERE document = ${document} AND revision < ${revision}`
  sql.run`DELETE FROM files WHERE document = ${document} AND revision < ${revision}`
  return { document, revision, replaced: replaced.map((row) => integer(row, 'key')) }
}

function end(sql: SQLTagStore, { document, revision }: Completion, chunks: number): void {
  sql.run`DELETE FROM jobs WHERE document = ${document}`
  sql.run`
    UPDATE documents
    SET status = 'ready', error_code = NULL, error_message = NULL,
      served_revision = ${revision}, chunk_count = ${chunks}, updated_at = ${Date.now()}
    WHERE number = ${document}`
  sql.run`
    UPDATE documents
    SET title = new.title, url = new.url, metadata = new.metadata, file = new.file,
      characters = new.characters
    FROM replacements AS new WHERE new.document = number AND number = ${document}`
  sql.run`DELETE FROM replacements WHERE document = ${document}`
}

/** There is one revision left by now. */
function setText(sql: SQLTagStore, completion: Completion, text: string): void {
  sql.run`UPDATE contents SET text = ${text} WHERE document = ${completion.document}`
  setCharacters(sql, completion, text.length)
}

function setCharacters(sql: SQLTagStore, { document }: Completion, characters: number): void {
  sql.run`UPDATE documents SET characters = ${characters} WHERE number = ${document}`
}
