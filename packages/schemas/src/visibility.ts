import type { Visibility } from '@agent-server/lib/visibility.ts'
import { type Caller, shareOf } from './operator/api-key.ts'

type Reader = Pick<Caller, 'collections' | 'key'>

/** For lists and searches: the documents of a conversation are found only in that conversation. */
export function forCaller(caller: Reader, conversationId?: string): Visibility {
  const { collections, key } = caller
  const conversations =
    conversationId === undefined ? 'none' : { owner: key?.id, id: conversationId }
  return { collections: collections ?? 'all', conversations, reader: shareOf(caller) }
}

/** For access by id: a caller sees the documents of all of its conversations. */
export function forCallerById(caller: Reader): Visibility {
  const { collections, key } = caller
  return {
    collections: collections ?? 'all',
    conversations: { owner: key?.id },
    reader: shareOf(caller),
  }
}
