import type { Visibility } from '@agent-server/lib/visibility.ts'
import type { OpenedStore } from '@agent-server/stores'
import type { Retrieval } from '../../retrieval/search.ts'
import type { Audit } from './audit.ts'

type Notes = Pick<Audit, 'note'>

/** Notes what a person reads: whoever reads says so in the visibility. */
function createReadNotes(audit: Notes) {
  return ({ reader }: Visibility, documentIds: readonly string[]): void => {
    if (!reader?.startsWith('user:') || documentIds.length === 0) return
    audit.note({ who: reader, action: 'read', targets: { documents: [...new Set(documentIds)] } })
  }
}

/** The store, which notes each document of which a person is given text, chunks or the file. */
export function auditReads<Store extends OpenedStore>(store: Store, audit: Notes): Store {
  const note = createReadNotes(audit)
  const whenFound = async <Found>(
    visibility: Visibility,
    id: string,
    reading: Promise<Found | undefined>,
  ) => {
    const document = await reading
    if (document !== undefined) note(visibility, [id])
    return document
  }
  return {
    ...store,
    readFile: (visibility, id, revision) =>
      whenFound(visibility, id, store.readFile(visibility, id, revision)),
    listChunks: (visibility, page) =>
      whenFound(visibility, page.documentId, store.listChunks(visibility, page)),
    lookup: {
      ...store.lookup,
      readText: (visibility, id, signal) =>
        whenFound(visibility, id, store.lookup.readText(visibility, id, signal)),
      readPart: (visibility, part, signal) =>
        whenFound(visibility, part.documentId, store.lookup.readPart(visibility, part, signal)),
    },
  }
}

/** The search, which notes the documents that a person is shown passages of. */
export function auditSearches(retrieval: Retrieval, audit: Notes): Retrieval {
  const note = createReadNotes(audit)
  return {
    ...retrieval,
    async search(query, signal) {
      const result = await retrieval.search(query, signal)
      note(
        query.visibility,
        result.hits.map(({ documentId }) => documentId),
      )
      return result
    },
  }
}
