import { AppError } from '@agent-server/lib/errors.ts'
import { COLLECTION, DEFAULT_COLLECTION } from '@agent-server/lib/labels.ts'
import { z } from 'zod'
import { Access } from './access.ts'
import { allOf, type Filter } from './metadata.ts'

/** A regular expression for names of collections. */
export const COLLECTION_NAME = '[A-Za-z0-9][\\w.-]{0,63}'

export const CollectionName = z
  .string()
  .regex(new RegExp(`^${COLLECTION_NAME}$`), {
    error: 'must start with a letter or digit, followed by up to 63 of A-Z a-z 0-9 _ . -',
  })
  .describe('Name of a collection; `default` contains the documents that are in none.')

/** Limits a search, a list or a deletion. */
export const InCollection = CollectionName.describe(
  'Only documents in this collection, that is, with this name in the metadata field `collection`. `default` contains the documents without that field. If absent, all documents.',
)

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
  writer = 'this key',
): void {
  if (!allowed || allowed.includes(collection)) return
  const which = allowed.length > 0 ? `only to ${allowed.join(', ')}: name one of these` : 'to none'
  const message = `collection: ${writer} can write ${which}`
  throw new AppError('collection_not_allowed', message, { param: COLLECTION })
}

/**
 * The id of a document that a key with collections names itself. Without the collection, the key could tell by an id
 * that is taken which documents there are elsewhere.
 */
export const idIn = (collection: string, ownId: string) => `${collection}~${ownId}`

const Role = z.enum(['reader', 'contributor', 'owner'])

const LISTS = {
  access: Access.describe(
    'Who may read the documents that have no `access` of their own: `user:<id>`, `group:<id>` or `public`, for everybody who has signed in.',
  ),
  contributors: Access.describe('Who may also add documents, and change their own.'),
  owners: Access.describe(
    'Who may also change and delete all documents that they may read, and these lists.',
  ),
}

const Lists = z.strictObject({
  access: LISTS.access.optional(),
  contributors: LISTS.contributors.optional(),
  owners: LISTS.owners.optional(),
})
export type Lists = z.output<typeof Lists>

export const CollectionPatch = Lists.extend({
  expected: Lists.optional().describe(
    'Lists as you read them: if somebody has changed one of them, nothing is saved and the response is 409 `edit_conflict`.',
  ),
}).meta({ id: 'CollectionPatch', examples: [{ access: ['group:staff'] }] })

export const NewCollection = Lists.extend({ name: CollectionName }).meta({
  id: 'CreateCollection',
  examples: [{ name: 'handbook', access: ['group:staff'] }],
})

export const Collection = z
  .object({
    name: CollectionName,
    documents: z.int().describe('Number of its documents that your queries find.'),
    role: Role.optional().describe(
      'What you may do in it as a person; absent for API keys and administrators, who may do what an owner may, and if you may only read single documents.',
    ),
    creator: z.string().optional().describe('The person who created it, as `user:<id>`.'),
    createdAt: z.iso
      .datetime()
      .optional()
      .describe('When it was created; absent if it exists only by the documents in it.'),
    access: LISTS.access.optional(),
    contributors: LISTS.contributors.optional(),
    owners: LISTS.owners.optional(),
  })
  .meta({
    id: 'Collection',
    description: 'A collection of documents; its lists are shown to whoever may change them.',
  })

export const CollectionList = z
  .object({
    collections: z
      .array(Collection)
      .describe('Those that you may see: `default` first, then those with the most documents.'),
  })
  .meta({ id: 'CollectionList' })

export const CollectionParams = z.object({ name: CollectionName })

export type CollectionPatch = z.output<typeof CollectionPatch>
export type NewCollection = z.output<typeof NewCollection>
export type Collection = z.output<typeof Collection>
export type CollectionList = z.output<typeof CollectionList>
