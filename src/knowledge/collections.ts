import { AppError } from '@agent-server/lib/errors.ts'
import { takes } from '@agent-server/search'
import { COLLECTION } from '../schemas/bounds.ts'
import { refusal } from '../schemas/invalid-request.ts'
import {
  collectionValue,
  DEFAULT_COLLECTION,
  type Metadata,
  withinAny,
} from '../schemas/metadata.ts'
import type { NewDocument } from '../stores/document-store.ts'

export interface Content extends Omit<NewDocument, 'id'> {
  /** The collection that the document is added to. */
  collection?: string | undefined
  /** The conversation that it belongs to. */
  conversation?: string | undefined
}

/**
 * Puts the collection of a document into its metadata. With `allowed`, content that names no collection goes into the
 * only one of these. Throws `invalid_request` if the metadata names another one, and `collection_not_allowed`.
 */
export function placeInCollection(
  { collection, ...content }: Content,
  allowed?: readonly string[],
): Omit<NewDocument, 'id'> {
  const { [COLLECTION]: named, ...others } = content.metadata ?? {}
  if (collection !== undefined && named !== undefined && named !== collection) {
    const message = `must equal metadata.${COLLECTION}, or one of them must be omitted`
    throw refusal('collection', message)
  }
  const only = allowed?.length === 1 && named === undefined ? allowed[0] : undefined
  const chosen = collection ?? only
  const value = chosen === undefined ? named : collectionValue(chosen)
  const metadata =
    value === undefined || value === null ? others : { ...others, [COLLECTION]: value }
  refuseOther(metadata, allowed)
  return content.metadata || chosen !== undefined ? { ...content, metadata } : content
}

/** Throws `collection_not_allowed` if the metadata places a document in none of the allowed collections. */
export function refuseOther(metadata: Metadata, allowed: readonly string[] | undefined): void {
  if (!allowed || isIn(allowed, metadata)) return
  const message = `collection: this key can write only to ${allowed.join(', ')}: name one of these`
  throw new AppError('collection_not_allowed', message, { param: COLLECTION })
}

/** Whether a document with this metadata is in one of the collections; undefined stands for all. */
export function isIn(
  collections: readonly string[] | undefined,
  metadata: Metadata | undefined,
): boolean {
  const filter = withinAny(collections)
  return !filter || takes(filter, metadata)
}

/** The collection that metadata places a document in. */
export function collectionIn(metadata: Metadata = {}): string {
  const { [COLLECTION]: named } = metadata
  return typeof named === 'string' ? named : DEFAULT_COLLECTION
}
