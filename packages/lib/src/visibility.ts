import type { Filter } from './filter.ts'
import type { Owner } from './limiter.ts'

/**
 * Who reads, and therefore which documents exist: every query of a store and of an index takes one. What it leaves out
 * is as if it were not there. It is applied where the queries are made: in the SQL of a document store, and in each index.
 */
export interface Visibility {
  /** Names of collections; `default` has the documents that are in none. */
  readonly collections: 'all' | readonly string[]
  /** Whose rights decide, where people are configured: keys and the server's own work see documents regardless of them. */
  readonly rights: 'all' | Rights
  /** Which documents of conversations there are, besides the documents of none. */
  readonly conversations: 'all' | 'none' | OwnConversations
  /** Applies to the documents of no conversation. */
  readonly filter?: Filter | undefined
  /** Whose share of what is limited the reading uses; it changes nothing of what is seen. */
  readonly reader?: Owner
}

/** What one person may do, by the rights to documents and collections as they are when the query runs. */
export interface Rights {
  /** `user:<id>`: sees what they have added, too. */
  readonly person: string
  /** The entries of a list of access that include the person: `user:<id>`, one `group:<id>` each, and `public`. */
  readonly principals: readonly string[]
  /** To change: what they have added, and what is in a collection that they own. */
  readonly to: 'read' | 'change'
}

/** The conversations of a person, an API key, or the master key, which has no id: one of them, or all. */
interface OwnConversations {
  readonly owner: string | undefined
  readonly id?: string | undefined
}

const EVERYTHING: Visibility = { collections: 'all', rights: 'all', conversations: 'all' }

/** For the server's own work, such as ingestion and copies, and for nothing that a client asks for. */
export const everything = (): Visibility => EVERYTHING

/** Narrows it by a filter, which does not apply to the documents of the conversation. */
export function narrowed(visibility: Visibility, filter: Filter | undefined): Visibility {
  if (!filter) return visibility
  const { filter: before } = visibility
  return { ...visibility, filter: before ? { and: [before, filter] } : filter }
}

/** Whether it leaves out documents of conversations at most, which are few. */
export const isBroad = ({ collections, rights, filter }: Visibility) =>
  collections === 'all' && rights === 'all' && !filter
