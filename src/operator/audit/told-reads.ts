import type { Visibility } from '@agent-server/lib/visibility.ts'
import type { Retrieval } from '../../retrieval/search.ts'
import type { OpenedStore } from '../../stores/opened-store.ts'
import type { Audit } from './audit.ts'

type Note = Pick<Audit, 'note'>

/** Told of what a person reads: whoever reads says so in the visibility. */
function createTell(audit: Note) {
  return ({ reader }: Visibility, documentIds: readonly string[]): void => {
    if (!reader?.startsWith('user:') || documentIds.length === 0) return
    audit.note({ who: reader, action: 'read', targets: { documents: [...new Set(documentIds)] } })
  }
}

/** The store, which tells of each document of which a person is given text, chunks or the file. */
export function tellingReads<Store extends OpenedStore>(store: Store, audit: Note): Store {
  const tell = createTell(audit)
  const whenFound = async <Found>(
    visibility: Visibility,
    id: string,
    reading: Promise<Found | undefined>,
  ) => {
    const found = await reading
    if (found !== undefined) tell(visibility, [id])
    return found
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

/** The search, which tells of the documents that a person is shown passages of. */
export function tellingSearches(retrieval: Retrieval, audit: Note): Retrieval {
  const tell = createTell(audit)
  return {
    ...retrieval,
    async search(query, signal) {
      const found = await retrieval.search(query, signal)
      tell(
        query.visibility,
        found.hits.map(({ documentId }) => documentId),
      )
      return found
    },
  }
}
