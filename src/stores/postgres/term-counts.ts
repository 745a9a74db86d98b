import type { Query, Value } from '../sql/query.ts'
import { optionalInteger } from '../sql/rows.ts'
import { createTermReads } from '../sql/term-counts.ts'
import { type CountedTerms, packTerms, type TermCountStore } from '../term-counts.ts'
import type { Database } from './database.ts'
import { POSTGRES } from './dialect.ts'

/** A sum may have some millions of terms. */
const LONG_MS = 60_000

const COUNT: Query = {
  name: 'count_document',
  text: `INSERT INTO agent_server.document_terms (document, analyser, chunks, length, terms, holding)
    SELECT number, $3, $4, $5, $6, $7 FROM agent_server.documents
    WHERE id = $1 AND served_revision = $2 FOR SHARE
    ON CONFLICT (document, analyser) DO NOTHING`,
}
const FOLD: Query = {
  name: 'fold_terms',
  text: 'SELECT agent_server.fold_terms($1::bigint[], $2, $3, $4, $5, $6) AS number',
  milliseconds: LONG_MS,
}

export function createTermCountStore(database: Database): TermCountStore {
  return {
    ...createTermReads(database.read, POSTGRES),
    async count({ id, revision }, counted) {
      await database.write(COUNT, [id, revision, ...termColumns(counted)])
    },
    async fold(numbers, sum) {
      const [row] = await database.write(FOLD, [numbers, ...termColumns(sum)])
      return optionalInteger(row, 'number')
    },
  }
}

/** Nulls where nothing is counted. */
export function termColumns(counted: CountedTerms | undefined): Value[] {
  if (!counted) return [null, null, null, null, null]
  const { terms, holding } = packTerms(counted)
  return [counted.analyser, counted.chunks, counted.length, terms, holding]
}
