import type { DocumentStore } from '../document-store.ts'
import type { Read, SqlDialect } from './query.ts'
import { integer, toDocument } from './rows.ts'

type DocumentReads = Pick<DocumentStore, 'get' | 'hasKey' | 'identity' | 'counts'>

/** What is asked of documents. Each query is one statement, and so sees one moment. */
export function createDocumentReads(read: Read, { schema, counts }: SqlDialect): DocumentReads {
  const DOCUMENT = `SELECT documents.*, source FROM ${schema}.documents
    LEFT JOIN ${schema}.sources ON document = number WHERE id = $1`
  const KEY = `SELECT 1 AS one FROM ${schema}.idempotency_keys WHERE key = $1`
  const IDENTITY = `SELECT value FROM ${schema}.meta WHERE name = 'identity'`

  return {
    async get(id) {
      const [row] = await read(DOCUMENT, [id])
      return row && toDocument(row)
    },

    hasKey: async (key) => (await read(KEY, [key])).length > 0,

    identity: async () => String(integer((await read(IDENTITY))[0], 'value')),

    async counts() {
      const [row] = await read(counts)
      const count = (name: string) => integer(row, name)
      return {
        documents: {
          pending: count('pending'),
          processing: count('processing'),
          ready: count('ready'),
          failed: count('failed'),
        },
        chunks: count('chunks'),
        jobs: count('jobs'),
      }
    },
  }
}
