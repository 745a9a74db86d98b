import { AppError } from '@agent-server/lib/errors.ts'
import { type Labels, shownMetadata, toPlace } from '@agent-server/lib/labels.ts'
import { MAX_METADATA_FIELDS } from '@agent-server/schemas/bounds.ts'
import type { Metadata, MetadataPatch } from '@agent-server/schemas/metadata.ts'
import { type LabelsPatch, tooManyFields } from '../document-store.ts'
import { contentColumns, toContent } from './columns.ts'
import type { Row, Tx } from './query.ts'

/** Throws `edit_conflict` unless the fields are as expected, `invalid_request` for too many fields. */
export function patchedPlace(row: Row, patch: MetadataPatch, expected: MetadataPatch = {}) {
  const metadata = shownMetadata(toContent(row))
  refuseOther(metadata, expected)
  return toPlace(patched(metadata, patch))
}

/** The content that waits is changed as well. */
export async function patchReplacement(
  tx: Tx,
  document: number,
  { metadata: patch = {}, access }: Pick<LabelsPatch, 'access' | 'metadata'>,
): Promise<void> {
  const replacement = await tx.one('SELECT * FROM replacements WHERE document = $1', [document])
  if (!replacement) return
  const columns = contentColumns({
    ...patchedPlace(replacement, patch),
    ...(access !== undefined && { access: access ?? undefined }),
  })
  const set = Object.keys(columns).map((name, i) => `${name} = $${i + 2}`)
  const update = `UPDATE replacements SET ${set.join(', ')} WHERE document = $1`
  await tx.run(update, [document, ...Object.values(columns)])
}

/** Stores the values in the rows where filters look them up. */
export async function insertMetadata(
  tx: Tx,
  document: number,
  labels: Partial<Pick<Labels, 'collection' | 'metadata'>>,
): Promise<void> {
  const fields = Object.entries(shownMetadata(labels) ?? {})
  if (fields.length === 0) return
  const rows = fields.map(([name, value]) =>
    typeof value === 'string'
      ? [name, 'string', null, value]
      : [name, typeof value, Number(value), null],
  )
  const places = rows.map(
    (_, row) => `($1, ${[2, 3, 4, 5].map((i) => `$${4 * row + i}`).join(', ')})`,
  )
  await tx.run(
    `INSERT INTO metadata (document, name, kind, number, string) VALUES ${places.join(', ')}`,
    [document, ...rows.flat()],
  )
}

/** Throws `edit_conflict` unless the fields are as expected; null stands for no such field. */
function refuseOther(metadata: Metadata = {}, expected: MetadataPatch): void {
  for (const [name, value] of Object.entries(expected)) {
    const now = Object.hasOwn(metadata, name) ? metadata[name] : null
    if (now === value) continue
    const param = `expected.metadata.${name}`
    const message = `${param}: the field is now ${JSON.stringify(now)}; nothing was changed`
    throw new AppError('edit_conflict', message, { param })
  }
}

/** The metadata without what the patch sets to null. Throws `invalid_request` for too many fields. */
function patched(metadata: Metadata | undefined, patch: MetadataPatch): Metadata {
  const all = Object.entries({ ...metadata, ...patch })
  const entries = all.flatMap(([name, value]) => (value === null ? [] : [[name, value] as const]))
  if (entries.length > MAX_METADATA_FIELDS) throw tooManyFields()
  return Object.fromEntries(entries)
}
