import type { SQLTagStore } from 'node:sqlite'
import { integer } from '../sql/rows.ts'
import { type CountedTerms, packTerms, type UncountedDocument } from '../term-counts.ts'

/** Counts a document, by its number. */
export function insertTerms(sql: SQLTagStore, document: number, counted: CountedTerms): void {
  const { terms, holding } = packTerms(counted)
  sql.run`
    INSERT INTO document_terms (document, analyser, chunks, length, terms, holding)
    VALUES (${document}, ${counted.analyser}, ${counted.chunks}, ${counted.length}, ${terms}, ${holding})`
}

/** What changes the term counts beside ingestion. Each write runs inside a transaction of the caller's. */
export function createTermWrites(sql: SQLTagStore) {
  return {
    countTerms({ id, revision }: Omit<UncountedDocument, 'number'>, counted: CountedTerms): void {
      const row = sql.get`
        SELECT number FROM documents WHERE id = ${id} AND served_revision = ${revision}
          AND NOT EXISTS (SELECT 1 FROM document_terms
            WHERE document = number AND analyser = ${counted.analyser})`
      if (row) insertTerms(sql, integer(row, 'number'), counted)
    },

    foldTerms(numbers: readonly number[], sum: CountedTerms): number | undefined {
      const folded = JSON.stringify(numbers)
      const { changes } = sql.run`
        DELETE FROM term_entries WHERE number IN (SELECT value FROM json_each(${folded}))
          AND ${numbers.length} = (SELECT count(*) FROM term_entries
            WHERE number IN (SELECT value FROM json_each(${folded})))`
      if (Number(changes) !== numbers.length) return undefined
      const { terms, holding } = packTerms(sum)
      const row = sql.get`
        INSERT INTO term_entries (analyser, sign, chunks, length, terms, holding)
        VALUES (${sum.analyser}, 1, ${sum.chunks}, ${sum.length}, ${terms}, ${holding})
        RETURNING number`
      return integer(row, 'number')
    },
  }
}
