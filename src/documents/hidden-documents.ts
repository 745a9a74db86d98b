import type { Caller } from '@agent-server/schemas/operator/api-key.ts'
import { forCallerById } from '@agent-server/schemas/visibility.ts'
import type { DocumentStore } from '@agent-server/stores'

/** Which of these documents a caller may not read any more, or that are gone; none for whoever rights do not concern. */
export type HiddenDocuments = (
  ids: readonly string[],
  caller: Caller,
) => Promise<ReadonlySet<string>>

export function createHiddenDocuments(store: Pick<DocumentStore, 'getAll'>): HiddenDocuments {
  return async (ids, caller) => {
    const visibility = forCallerById(caller)
    if (visibility.rights === 'all') return new Set()
    const distinct = [...new Set(ids)]
    const shown = await store.getAll(visibility, distinct)
    return new Set(distinct.filter((id) => !shown.has(id)))
  }
}
