import { batched } from '@agent-server/lib/batches.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import type { Log } from '@agent-server/lib/log.ts'
import { everything, type Visibility } from '@agent-server/lib/visibility.ts'
import { within } from '@agent-server/schemas/collection.ts'
import type { Deletion, DeletionQuery, DocumentPatch } from '@agent-server/schemas/document.ts'
import type { ChunkIndex } from '@agent-server/search'
import {
  type ChunkPage,
  chunkPages,
  type DocumentSelection,
  type DocumentStore,
  documentPages,
  type LabelsPatch,
  type StoredDocument,
} from '@agent-server/stores'

/** Documents that are deleted concurrently. */
const DELETED_TOGETHER = 200

interface Refreshing {
  store: Pick<DocumentStore, 'get' | 'listChunks'>
  index: Pick<ChunkIndex, 'refreshLabels'>
}

export interface ChangeDependencies extends Refreshing {
  store: Pick<
    DocumentStore,
    'get' | 'list' | 'countListed' | 'listChunks' | 'delete' | 'patchLabels'
  >
  index: Pick<ChunkIndex, 'remove' | 'refreshLabels' | 'check'>
  /** Notifies ingestion that there is work. */
  wake: () => void
  log: Pick<Log, 'warn'>
}

/** A change of labels; see `LabelsPatch` for the taker and the creator. */
export interface Changing
  extends Omit<DocumentPatch, 'title'>,
    Pick<LabelsPatch, 'taker' | 'creator'> {}

/** What clients do to documents without sending them again. */
export function createDocumentChanges({ store, index, wake, log }: ChangeDependencies) {
  const remove = async (visibility: Visibility, id: string): Promise<boolean> => {
    const keys = await store.delete(visibility, id)
    if (!keys) return false
    // Once it is gone from the document store it is never shown; leftovers only take up space in the index.
    await index.remove(keys).catch((error: unknown) => {
      log.warn(
        { err: error, documentId: id },
        'a deleted document remains in the index until the next restart',
      )
    })
    return true
  }

  return {
    /** Returns whether the document existed. The very next query no longer finds it. */
    remove,

    /**
     * Deletes all documents of a selection if `confirm` is their number; otherwise throws `edit_conflict`. Throws
     * `invalid_request` without `confirm`. What was deleted before `signal` was aborted stays deleted.
     */
    async removeAll(
      visibility: Visibility,
      { dryRun, confirm, collection, ...labels }: DeletionQuery,
      signal: AbortSignal,
    ): Promise<Deletion> {
      const selection = { ...labels, filter: within({ filter: labels.filter, collection }) }
      const matched = await store.countListed(visibility, selection, signal)
      if (dryRun) return { matched, deleted: 0 }
      if (confirm === undefined) {
        const message = 'confirm: must be the number of documents reported with dryRun=true'
        throw new AppError('invalid_request', message, { param: 'confirm' })
      }
      const ids = confirm === matched ? await idsOf(store, visibility, selection, signal) : []
      if (ids.length !== confirm) {
        const message = `confirm: the selection now matches ${matched} documents, not ${confirm}; nothing was deleted`
        throw new AppError('edit_conflict', message, { param: 'confirm' })
      }
      let deleted = 0
      for (const batch of batched(ids, DELETED_TOGETHER)) {
        signal.throwIfAborted()
        const removed = await Promise.all(batch.map((each) => remove(visibility, each)))
        deleted += removed.filter(Boolean).length
      }
      return { matched, deleted }
    },

    /**
     * Changes metadata without ingesting the document again; the very next query filters by it. Returns undefined if
     * there is no such document. Throws, with nothing changed, `edit_conflict` unless metadata and access are as
     * `expected`, and `index_unavailable` if labels would have to change in the index, but it is down. If the index fails after the
     * store has changed, throws its error; the same change may be sent again.
     */
    async patch(
      visibility: Visibility,
      id: string,
      { metadata, conversation, access, expected, taker, creator }: Changing,
      signal: AbortSignal,
    ): Promise<StoredDocument | undefined> {
      // A right is taken away at once, also where the index is down: what it finds is checked in the store.
      if (metadata || conversation !== undefined || creator !== undefined) await index.check(signal)
      const change = { metadata, conversation, access, taker, creator }
      const document = await store.patchLabels(visibility, id, change, expected)
      if (!document) return undefined
      wake()
      await refreshLabels({ store, index }, id)
      return document
    },
  }
}

/** Gives the index the labels of a document, and repeats this if they were changed again in the meantime. */
export async function refreshLabels({ store, index }: Refreshing, id: string): Promise<void> {
  const stored = async () => {
    const document = await store.get(everything(), id)
    const { collection, conversation, metadata, access, creator } = document ?? {}
    return JSON.stringify([collection, conversation, metadata, access, creator])
  }
  let written: string | undefined
  do {
    written = await stored()
    await index.refreshLabels(await chunkKeys(store, id))
  } while (written !== (await stored()))
}

async function idsOf(
  store: Pick<DocumentStore, 'list'>,
  visibility: Visibility,
  selection: DocumentSelection,
  signal: AbortSignal,
): Promise<string[]> {
  const pages = await Array.fromAsync(documentPages(store, visibility, selection, signal))
  return pages.flatMap(({ documents }) => documents.map(({ id }) => id))
}

async function chunkKeys(
  store: Pick<DocumentStore, 'listChunks'>,
  documentId: string,
): Promise<number[]> {
  const keysOf = ({ chunks }: ChunkPage) => chunks.map(({ key }) => key)
  const pages = chunkPages(store, everything(), documentId)
  return (await Array.fromAsync(pages, keysOf)).flat()
}
