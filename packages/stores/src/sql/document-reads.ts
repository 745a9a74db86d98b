import { batched } from '@agent-server/lib/batches.ts'
import type { DocumentStore, StoredDocument } from '../document-store.ts'
import { createCollectionReads } from './collections.ts'
import { toDocument } from './columns.ts'
import type { Dialect } from './dialect.ts'
import { integer, type Read, text } from './query.ts'
import { visibleTo } from './visible.ts'

const KEY = 'SELECT 1 AS one FROM idempotency_keys WHERE key = $1'
const IDENTITY = `SELECT value FROM meta WHERE name = 'identity'`
const COUNTS = `SELECT ${['pending', 'processing', 'ready', 'failed', 'chunks', 'jobs']
  .map((name) => `CAST(sum(${name}) AS bigint) AS ${name}`)
  .join(', ')} FROM counts`

const IDS_PER_READ = 500

/** Queries for documents. Each is a single statement, and so sees a consistent state. */
export function createDocumentReads(
  read: Read,
  dialect: Dialect,
): Pick<
  DocumentStore,
  'get' | 'getAll' | 'hasKey' | 'readableCollections' | 'identity' | 'counts'
> {
  const { rolesOf } = createCollectionReads(read)
  return {
    readableCollections: async (principals) => [...(await rolesOf(principals)).keys()],

    async get(visibility, id) {
      const { sql, values, statement } = visibleTo(dialect, visibility, {
        values: [id],
        testing: 'each',
      })
      const query = `SELECT documents.*, source FROM documents
        LEFT JOIN sources ON document = number WHERE id = $1 AND ${sql}`
      const [row] = await read(statement(query), values)
      return row && toDocument(row)
    },

    async getAll(visibility, ids) {
      const documents = new Map<string, StoredDocument>()
      for (const batch of batched(ids, IDS_PER_READ)) {
        const { sql, values, statement } = visibleTo(dialect, visibility, {
          values: [batch],
          testing: 'each',
        })
        const query = `SELECT documents.*, source FROM documents
          LEFT JOIN sources ON document = number
          WHERE id ${dialect.isIn('$1', 'text')} AND ${sql}`
        for (const row of await read(statement(query), values)) {
          documents.set(text(row, 'id'), toDocument(row))
        }
      }
      return documents
    },

    hasKey: async (key) => (await read(KEY, [key])).length > 0,

    identity: async () => String(integer((await read(IDENTITY))[0], 'value')),

    async counts() {
      const [row] = await read(COUNTS)
      const of = (name: string) => integer(row, name)
      return {
        documents: {
          pending: of('pending'),
          processing: of('processing'),
          ready: of('ready'),
          failed: of('failed'),
        },
        chunks: of('chunks'),
        jobs: of('jobs'),
      }
    },
  }
}
