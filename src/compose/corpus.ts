import { join } from 'node:path'
import type { Config } from '../config.ts'
import type { Corpus } from '../stores/corpus.ts'
import { createPostgresCorpus } from '../stores/postgres/postgres-corpus.ts'
import { createSqliteCorpus } from '../stores/sqlite/sqlite-corpus.ts'

/** The whole corpus of the authority that is configured. */
export function openCorpus({ DATABASE_URL, DATA_DIR }: Config): Corpus {
  if (DATABASE_URL !== undefined) return createPostgresCorpus(DATABASE_URL)
  return createSqliteCorpus({ directory: DATA_DIR, derived: [join(DATA_DIR, 'index')] })
}
