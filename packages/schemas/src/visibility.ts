import type { Rights, Visibility } from '@agent-server/lib/visibility.ts'
import { type Caller, ownerIdOf, shareOf } from './operator/api-key.ts'

/** Whose rights a visibility is made of. */
export type Reader = Pick<Caller, 'collections' | 'key' | 'person'>

/** For lists and searches: the documents of a conversation are found only in that conversation. */
export function forCaller(caller: Reader, conversationId?: string): Visibility {
  const conversations =
    conversationId === undefined ? 'none' : { owner: ownerIdOf(caller), id: conversationId }
  return { ...visibleToCaller(caller), conversations }
}

/** For access by id: a caller sees the documents of all of its conversations. */
export function forCallerById(caller: Reader): Visibility {
  return { ...visibleToCaller(caller), conversations: { owner: ownerIdOf(caller) } }
}

/** What a caller may change, delete or share, of what `forCallerById` sees. */
export function forChanges(caller: Reader): Visibility {
  return toChange(forCallerById(caller))
}

/** What of it may be changed, too. */
export function toChange(visibility: Visibility): Visibility {
  const { rights } = visibility
  return rights === 'all' ? visibility : { ...visibility, rights: { ...rights, to: 'change' } }
}

function visibleToCaller(caller: Reader) {
  const { collections, person } = caller
  const rights: 'all' | Rights =
    person && !person.isAdministrator
      ? { person: person.id, principals: principalsOf(person), to: 'read' }
      : 'all'
  return { collections: collections ?? 'all', rights, reader: shareOf(caller) } as const
}

/** Whether a caller may use what only these people may: keys may, as the operator made them, and so may administrators. */
export function isIncluded({ person }: Reader, access: readonly string[] | undefined): boolean {
  if (!access || !person || person.isAdministrator) return true
  const principals = principalsOf(person)
  return access.some((entry) => principals.includes(entry))
}

/** The entries of a list of access that include a person. */
export function principalsOf({ id, groups }: NonNullable<Caller['person']>): string[] {
  return [id, ...groups.map((group) => `group:${group}`), 'public']
}
