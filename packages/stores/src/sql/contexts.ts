import type { ChunkContext, DocumentStore } from '../document-store.ts'
import { MAX_KEY_MINUTES } from './chunks.ts'
import { insertInto } from './columns.ts'
import type { Dialect } from './dialect.ts'
import { integer, optionalInteger, type Read, type Tx } from './query.ts'

const LEAST = `SELECT max(next_key) AS least FROM key_marks
  WHERE minute < now_ms() / 60000 - ${MAX_KEY_MINUTES}`

const PICTURES = `SELECT count(*) AS n, count(chunk_contexts.key) AS described
  FROM documents JOIN chunks ON document = number
  JOIN picture_chunks ON picture_chunks.key = chunks.key
  LEFT JOIN chunk_contexts ON chunk_contexts.key = chunks.key WHERE id = $1`

export function createPictureCount(read: Read): DocumentStore['countPictures'] {
  return async (documentId) => {
    const [row] = await read(PICTURES, [documentId])
    return { pictures: integer(row, 'n'), described: integer(row, 'described') }
  }
}

/** How chunks get what they are found by besides their text. */
export function createContextWrites(dialect: Dialect) {
  const DOCUMENT = `SELECT number FROM documents WHERE id = $1 ${dialect.locking()}`

  const CHUNK = `SELECT key FROM chunks WHERE key = $1 ${dialect.locking()}`

  const addContext = async (tx: Tx, { key, newKey, context }: ChunkContext): Promise<boolean> => {
    // Nobody adds a vector to it from now on.
    if (!(await tx.one(CHUNK, [key]))) return false
    await tx.run('DELETE FROM vectors WHERE key = $1', [key])
    await tx.run('DELETE FROM next_vectors WHERE key = $1', [key])
    await tx.run('UPDATE chunks SET key = $2 WHERE key = $1', [key, newKey])
    await insertInto(tx, 'chunk_contexts', { key: newKey, context })
    return true
  }

  return {
    /** The new keys of the chunks that still exist; `stale` if the new keys were too old. */
    async addContexts(
      tx: Tx,
      documentId: string,
      contexts: readonly ChunkContext[],
    ): Promise<number[] | 'stale'> {
      // Reading the marks comes first, as `retireChunkKeys` waits for those who have.
      const mark = await tx.one(LEAST)
      const least = optionalInteger(mark, 'least') ?? 0
      if (contexts.some(({ newKey }) => newKey < least)) return 'stale'
      await tx.one(DOCUMENT, [documentId])
      const newKeys: number[] = []
      for (const each of contexts) if (await addContext(tx, each)) newKeys.push(each.newKey)
      return newKeys
    },
  }
}
