import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { ARTIFACT_BOUNDS } from '../artifact-store.ts'
import { isWhole } from './artifacts.ts'
import { damagedDocuments, isSound, named } from './contents.ts'
import { bytes, integer, type Read, type Row, text } from './query.ts'

/** The findings for a database that can be used. */
export interface Checked {
  words: string
  /** Whether something in it is damaged that ends by itself. */
  isWarning?: boolean
}

/** Rows at a time, and of those that may hold a megabyte and more. */
const MAX_ROWS = 256
const MAX_LARGE_ROWS = 4

/** The files of documents that are served. */
const servedFiles = (digest: string) =>
  `SELECT documents.number AS document, documents.id, files.number AS stored, ${digest} AS sha256
    FROM documents JOIN files ON files.document = documents.number
      AND files.revision = coalesce(served_revision, documents.revision)
    WHERE ${digest} IS NOT NULL
      AND NOT EXISTS (SELECT 1 FROM replacements WHERE document = documents.number)
      AND documents.number > $1 ORDER BY documents.number LIMIT $2`
const PIECES =
  'SELECT ordinal, bytes FROM file_pieces WHERE file = $3 AND ordinal > $1 ORDER BY ordinal LIMIT $2'
const TEXTS = `SELECT document, contents.revision, id, text, digest
  FROM contents JOIN documents ON number = document
  WHERE (document, contents.revision) > ($1, $2) ORDER BY document, contents.revision LIMIT $3`
const AGES = Object.entries(ARTIFACT_BOUNDS).map(
  ([kind, each]) => `WHEN '${kind}' THEN ${each.maximumAgeMs}`,
)
const ARTIFACTS = `SELECT number, id, bytes, digest FROM artifacts
  WHERE number > $1 AND created_at > now_ms() - CASE kind ${AGES.join(' ')} END
  ORDER BY number LIMIT $2`

interface Source {
  read: Read
  /** The SHA-256 of a document's file, as the dialect has it. */
  digest: string
  /** Before the next start, texts and artifacts of an earlier version have none. */
  hasDigests: boolean
}

/**
 * Compares files and texts with their digests, a few at a time and without a transaction, which would hold on to what
 * others replace meanwhile. Throws `store_unavailable`, with the remedy, if a document is damaged.
 */
export async function checkRows(
  { read: readNow, digest, hasDigests }: Source,
  signal: AbortSignal,
): Promise<Checked> {
  const read: Read = async (statement, values) => {
    signal.throwIfAborted()
    return readNow(statement, values)
  }
  const select = servedFiles(digest)
  const files = rowsOf(read, select, ['document'], MAX_ROWS)
  const documents = await idsOf(files, (row) => isFileWhole(read, select, row))
  const texts = rowsOf(read, TEXTS, ['document', 'revision'])
  if (hasDigests) documents.push(...(await idsOf(texts, isSound)))
  if (documents.length > 0) throw damagedDocuments(documents)
  const artifacts = hasDigests ? await idsOf(rowsOf(read, ARTIFACTS, ['number']), isWhole) : []
  if (artifacts.length === 0) return { words: 'is sound' }
  const words = `is sound but for these files of tools, responses or runs, which a backup copies as they are, and which expire by themselves: ${named(artifacts)}`
  return { words, isWarning: true }
}

async function idsOf(rows: AsyncIterable<Row>, isGood: (row: Row) => boolean | Promise<boolean>) {
  const ids: string[] = []
  for await (const row of rows) if (!(await isGood(row))) ids.push(text(row, 'id'))
  return ids
}

/** All rows, in the order of their keys. */
async function* rowsOf(
  read: Read,
  select: string,
  keys: readonly string[],
  most = MAX_LARGE_ROWS,
): AsyncGenerator<Row> {
  let after = keys.map(() => -1)
  for (;;) {
    const rows = await read(select, [...after, most])
    yield* rows
    const last = rows.at(-1)
    if (!last || rows.length < most) return
    after = keys.map((key) => integer(last, key))
  }
}

async function isFileWhole(read: Read, select: string, row: Row): Promise<boolean> {
  let file = row
  for (;;) {
    if ((await digestOf(read, integer(file, 'stored'))) === text(file, 'sha256')) return true
    // What was deleted or replaced meanwhile seems to be damaged.
    const document = integer(file, 'document')
    const [now] = await read(select, [document - 1, 1])
    if (!now || integer(now, 'document') !== document) return true
    if (isDeepStrictEqual(now, file)) return false
    file = now
  }
}

async function digestOf(read: Read, file: number): Promise<string> {
  const digest = createHash('sha256')
  const ofFile: Read = (statement, values = []) => read(statement, [...values, file])
  for await (const row of rowsOf(ofFile, PIECES, ['ordinal'])) digest.update(bytes(row, 'bytes'))
  return digest.digest('hex')
}
