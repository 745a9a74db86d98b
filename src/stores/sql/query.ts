import type { MetadataValue } from '../../schemas/metadata.ts'
import type { Row } from './rows.ts'

export type Value = string | number | boolean | null | undefined | Uint8Array | readonly Value[]

/**
 * One statement in the SQL that both databases take; `$1` is its first parameter. Each connection keeps it prepared,
 * but for one that is `made` for what is asked, of which there are too many.
 */
export type Statement = string | { made: string }

/** Runs a query that sees what was committed before it. After so many milliseconds the answer is not waited for any more. */
export type Read = (
  statement: Statement,
  values?: readonly Value[],
  milliseconds?: number,
) => Promise<Row[]>

/** Runs a statement inside the transaction that the caller has begun. */
export type Run = (text: string, values?: readonly Value[]) => Promise<Row[]>

/** What differs between the databases in queries that are otherwise the same. */
export interface SqlDialect {
  /** Where the tables are. */
  schema: 'main' | 'agent_server'
  /** Completes a condition: is one of the numbers of the array `$1`. */
  isInFirst: string
  /** Gives one row with a column for each of the counts. */
  counts: string
  /** The last four characters, in lower case, of the name of a document's file, or of its title; written as in an index. */
  nameEnding: string
  /** The name of a document's file; NULL where it has none. */
  fileName: string
  /** A text as it is compared and sorted without regard to case; by code points. */
  fold(text: string): string
  /** Of a row of `metadata`: the value that is a number or a boolean, and the one that is a string; NULL otherwise. */
  number: string
  string: string
  /** Compares the value of a row of `metadata`; one of another kind is neither equal nor more nor less. */
  compare(operator: string, value: MetadataValue, parameter: Parameter): string
  /** Whether it is one of these; answered by the index, too. */
  isOneOf(values: readonly MetadataValue[], parameter: Parameter): string
}

/** Takes a value, and answers what stands for it in the text of a statement. */
export type Parameter = (value: string | number) => string
