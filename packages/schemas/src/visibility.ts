import type { Visibility } from '@agent-server/lib/visibility.ts'
import type { Caller } from './operator/api-key.ts'

type Reader = Pick<Caller, 'collections' | 'key'>

/** For lists and searches: the documents of a conversation are found only in that conversation. */
export function forCaller({ collections, key }: Reader, conversationId?: string): Visibility {
  const conversations =
    conversationId === undefined ? 'none' : { owner: key?.id, id: conversationId }
  return { collections: collections ?? 'all', conversations }
}

/** For access by id: a caller sees the documents of all of its conversations. */
export function forCallerById({ collections, key }: Reader): Visibility {
  return { collections: collections ?? 'all', conversations: { owner: key?.id } }
}
