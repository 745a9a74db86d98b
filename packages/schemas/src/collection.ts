import { AppError } from '@agent-server/lib/errors.ts'
import { COLLECTION, DEFAULT_COLLECTION } from '@agent-server/lib/labels.ts'
import { z } from 'zod'
import { allOf, type Filter } from './metadata.ts'

export const CollectionName = z
  .string()
  .regex(/^[A-Za-z0-9][\w.-]{0,63}$/, {
    error: 'must start with a letter or digit, followed by up to 63 of A-Z a-z 0-9 _ . -',
  })
  .describe('Name of a collection; `default` contains the documents that are in none.')

/** Limits a search, a list or a deletion. */
export const InCollection = CollectionName.describe(
  'Only documents in this collection, that is, with this name in the metadata field `collection`. `default` contains the documents without that field. If absent, all documents.',
)

const CollectionSize = z
  .object({
    name: CollectionName,
    documents: z.int().describe('Number of its documents that queries find.'),
  })
  .meta({ id: 'CollectionSize' })

export const CollectionList = z
  .object({
    collections: z
      .array(CollectionSize)
      .describe('`default` first, if it has documents; then those with the most documents.'),
  })
  .meta({ id: 'CollectionList' })

interface Scoped {
  filter?: Filter | undefined
  collection?: string | undefined
}

/** A filter limited to a collection; undefined, for all documents, if neither is given. */
export function within({ filter, collection }: Scoped): Filter | undefined {
  if (collection === undefined) return filter
  const inCollection = { field: COLLECTION, eq: collection }
  const part =
    collection === DEFAULT_COLLECTION ? { not: { field: COLLECTION, gte: '' } } : inCollection
  return allOf(part, filter)
}

/** The change of metadata, as clients send it, that moves a document to a collection. */
export const movedTo = (collection: string) => ({
  [COLLECTION]: collection === DEFAULT_COLLECTION ? null : collection,
})

/** Throws `collection_not_allowed` if this is none of the allowed collections. */
export function refuseOther(
  collection: string = DEFAULT_COLLECTION,
  allowed?: readonly string[],
): void {
  if (!allowed || allowed.includes(collection)) return
  const message = `collection: this key can write only to ${allowed.join(', ')}: name one of these`
  throw new AppError('collection_not_allowed', message, { param: COLLECTION })
}

/**
 * The id of a document that a key with collections names itself. Without the collection, the key could tell by an id
 * that is taken which documents there are elsewhere.
 */
export const idIn = (collection: string, ownId: string) => `${collection}~${ownId}`
