import { hash } from 'node:crypto'
import { DEFAULT_COLLECTION } from '@agent-server/lib/labels.ts'
import type { Rights } from '@agent-server/lib/visibility.ts'
import type { Dialect } from './dialect.ts'
import type { Testing } from './filter.ts'
import { optionalText, type Row, type Tx } from './query.ts'

const DIGEST_CHARACTERS = 22

/** Equal lists have the same name, so that rights are looked up once for all documents that share one. */
export const accessListOf = (access: readonly string[]): string =>
  hash('sha256', JSON.stringify(access), 'base64url').slice(0, DIGEST_CHARACTERS)

/** Stores whom a list includes, unless it is known. Comes before the document that has it, in the same transaction. */
export async function keepAccess(
  tx: Tx,
  dialect: Dialect,
  access: readonly string[] | null | undefined,
): Promise<void> {
  if (!access?.length) return
  await dialect.exclude(tx, 'access', 'shared')
  const list = accessListOf(access)
  const rows = access.map((_, i) => `($${i + 2}, $1)`)
  const insert = `INSERT INTO access_entries (principal, list) VALUES ${rows.join(', ')}
    ON CONFLICT (principal, list) DO NOTHING`
  await tx.run(insert, [list, ...access])
}

/** Out of a shared collection a document is of whoever takes it out: others may have written into it since it was added. */
export const withoutEntries = (
  row: Row,
  { collection }: { collection?: string | undefined },
  taker: string | undefined,
) => {
  const isTakenOut = collection === undefined && optionalText(row, 'collection') !== undefined
  return isTakenOut && { creator: taker }
}

/** Forgets lists that no document has any more. */
export async function forgetAccess(tx: Tx, dialect: Dialect): Promise<void> {
  await dialect.exclude(tx, 'access')
  await tx.run(`DELETE FROM access_entries
    WHERE NOT EXISTS (SELECT 1 FROM documents WHERE access_list = access_entries.list)`)
}

/** The parts of a dialect that conditions on documents are made of. */
export type Conditions = Pick<Dialect, 'isIn' | 'hasOneOf'>

/**
 * Holds for the documents that a person may read or change, as rights are when the query runs. In a collection that people
 * share, what they have added is theirs only while they have a role in it: others may have written into it since.
 */
export function rightsCondition(
  { isIn, hasOneOf }: Conditions,
  { person, principals, to }: Rights,
  parameter: (value: string | readonly string[]) => `$${number}`,
  testing: Testing,
): string[] {
  const entries = parameter(principals)
  const isPrincipal = isIn(entries, 'text')
  const inCollections = (role = '') =>
    `coalesce(documents.collection, '${DEFAULT_COLLECTION}') IN (
      SELECT collection FROM collection_access WHERE principal ${isPrincipal} ${role})`
  const added = `documents.creator = ${parameter(person)}`
  const isOwn = (
    role = '',
  ) => `(${added} AND (documents.collection IS NULL OR ${inCollections(role)}
    OR NOT EXISTS (SELECT 1 FROM collections WHERE name = documents.collection)))`
  // There may be thousands of lists with these principals, which a few documents need not look through.
  const included =
    testing === 'each'
      ? hasOneOf('documents.access', entries)
      : `documents.access_list IN (SELECT list FROM access_entries WHERE principal ${isPrincipal})`
  const readable = `(${isOwn()} OR ${included} OR (documents.access_list IS NULL AND ${inCollections()}))`
  if (to === 'read') return [readable]
  return [readable, `(${isOwn(`AND role <> 'reader'`)} OR ${inCollections(`AND role = 'owner'`)})`]
}
