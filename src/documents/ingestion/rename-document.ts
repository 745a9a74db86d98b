import { AppError } from '@agent-server/lib/errors.ts'
import type { Visibility } from '@agent-server/lib/visibility.ts'
import { refusal } from '@agent-server/schemas/invalid-request.ts'
import {
  type DocumentStore,
  discard,
  documentNotFound,
  isDocumentGone,
  type StoredDocument,
} from '@agent-server/stores'
import type { createDocumentReads } from './document-reads.ts'

export interface RenamingDependencies {
  store: Pick<DocumentStore, 'get' | 'put' | 'readFile' | 'stageFile' | 'dropStaged'>
  text: ReturnType<typeof createDocumentReads>['text']
  /** Notifies ingestion that there is work. */
  wake: () => void
}

export interface Renaming {
  /** The API key that asks for it. */
  sender?: string | undefined
}

/** Search finds words of titles; therefore a document is ingested again under a new title, from its own content. */
export function createRenaming({ store, text, wake }: RenamingDependencies) {
  const copyFile = async (visibility: Visibility, { id, file, servedRevision }: StoredDocument) => {
    const pieces = file && (await store.readFile(visibility, id, servedRevision))
    if (!pieces) return undefined
    const { notes: _, ...facts } = file
    return { ...facts, ...(await store.stageFile(pieces)) }
  }

  return {
    /**
     * Throws `edit_conflict` if the title is not the expected one; if it is to be changed, also `invalid_request`
     * for a document from the web and `document_not_ready`.
     */
    async check(
      visibility: Visibility,
      id: string,
      title: string | undefined,
      expected: string | undefined,
    ): Promise<void> {
      if (title === undefined && expected === undefined) return
      const document = await store.get(visibility, id)
      if (!document) throw documentNotFound(id)
      const { title: now = '' } = document
      if (expected !== undefined && now !== expected) {
        throw editConflict(`expected.title: the title is now "${now}"`)
      }
      if (title !== undefined && title !== now) refuseToRename(document)
    },

    /** Throws like `DocumentStore.put`, and `edit_conflict` if the document is no longer as given. */
    async rename(
      visibility: Visibility,
      document: StoredDocument,
      title: string,
      { sender }: Renaming,
      signal: AbortSignal,
    ): Promise<StoredDocument> {
      const { id, url, collection, metadata, revision } = document
      const file = await copyFile(visibility, document)
      try {
        const content = file
          ? { text: '', file }
          : { text: (await text(visibility, id, {}, signal)).text }
        const renamed = { id, title, url, collection, metadata, sender, ...content }
        const stored = await store.put(visibility, renamed, { revision, collection, metadata })
        wake()
        return stored
      } catch (error) {
        if (file) await discard(store, file.number)
        throw isDocumentGone(error) ? editConflict('title: the document was changed') : error
      }
    },
  }
}

function refuseToRename({ source, status }: StoredDocument): void {
  if (source) throw refusal('title', 'cannot be changed: it comes from the web page')
  if (status === 'ready') return
  const message = `title: the document can be renamed only when it is ready; it is ${status}`
  throw new AppError('document_not_ready', message, { param: 'title' })
}

function editConflict(what: string): AppError {
  const [param = 'title'] = what.split(':')
  return new AppError('edit_conflict', `${what} meanwhile; it was not renamed`, { param })
}
