import type { Metadata } from './filter.ts'

/** What documents are filtered and seen by, besides their text. Without Zod, since the stores' threads load it. */
export interface Labels {
  /** The collection it is in; undefined for the default one. */
  collection: string | undefined
  /** The conversation it belongs to. */
  conversation: string | undefined
  /** Without the collection. */
  metadata: Metadata | undefined
  /** Who may read it, as sorted entries `user:<id>`, `group:<id>` and `public`; absent if its collection says. */
  access?: readonly string[] | undefined
  /** The person who added it. */
  creator?: string | undefined
}

/** The collection of documents that were put into none. */
export const DEFAULT_COLLECTION = 'default'

/** In metadata as clients send and see them, this field has the name of the collection, unless it is the default one. */
export const COLLECTION = 'collection'

type Place = Pick<Labels, 'collection' | 'metadata'>

/** Metadata as clients see them. */
export function shownMetadata({ collection, metadata }: Partial<Place>): Metadata | undefined {
  return collection === undefined ? metadata : { ...metadata, [COLLECTION]: collection }
}

/** The collection that metadata name as clients send them, and the rest. Only a string names one. */
export function toPlace(input: Metadata | undefined): Place {
  const { [COLLECTION]: collection, ...metadata } = input ?? {}
  if (typeof collection !== 'string') return { collection: undefined, metadata: input }
  return { collection: collection === DEFAULT_COLLECTION ? undefined : collection, metadata }
}
