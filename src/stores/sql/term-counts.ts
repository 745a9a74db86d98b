import type { TermCountStore } from '../term-counts.ts'
import { unpackTerms } from '../term-counts.ts'
import type { Read, SqlDialect } from './query.ts'
import { bytes, integer, text } from './rows.ts'

/** All served documents may have to be looked at. */
const LOOKING_MS = 60_000

/** What is asked of the term counts. */
export function createTermReads(
  read: Read,
  { schema, isInFirst }: SqlDialect,
): Pick<TermCountStore, 'entries' | 'readEntries' | 'uncounted'> {
  const ENTRIES = `SELECT number FROM ${schema}.term_entries WHERE analyser = $1`
  const READ = `SELECT number, sign, chunks, length, terms, holding FROM ${schema}.term_entries
    WHERE number ${isInFirst}`
  const UNCOUNTED = `SELECT number, id, served_revision FROM ${schema}.documents
    WHERE number > $2 AND served_revision IS NOT NULL AND NOT EXISTS (
      SELECT 1 FROM ${schema}.document_terms WHERE document = number AND analyser = $1)
    ORDER BY number LIMIT $3`

  return {
    async entries(analyser) {
      return (await read(ENTRIES, [analyser])).map((row) => integer(row, 'number'))
    },
    async readEntries(numbers) {
      return (await read(READ, [numbers], LOOKING_MS)).map((row) => {
        const sign = integer(row, 'sign')
        return {
          number: integer(row, 'number'),
          chunks: sign * integer(row, 'chunks'),
          length: sign * integer(row, 'length'),
          ...unpackTerms(bytes(row, 'terms'), bytes(row, 'holding'), sign),
        }
      })
    },
    async uncounted(analyser, after, limit) {
      return (await read(UNCOUNTED, [analyser, after, limit], LOOKING_MS)).map((row) => ({
        number: integer(row, 'number'),
        id: text(row, 'id'),
        revision: integer(row, 'served_revision'),
      }))
    },
  }
}
