import { AppError } from '../../errors.ts'
import type { ChunkIndex } from '../../indexes/chunk-index.ts'
import type { Deletion, DeletionQuery, DocumentPatch } from '../../schemas/document.ts'
import { within } from '../../schemas/metadata.ts'
import type {
  Among,
  ChunkPage,
  DocumentSelection,
  DocumentStore,
  StoredDocument,
} from '../../stores/document-store.ts'
import { chunkPages, documentPages } from '../../stores/lookup.ts'

/** Documents that are deleted at the same time. */
const DELETED_TOGETHER = 200

interface Refreshing {
  store: Pick<DocumentStore, 'get' | 'listChunks'>
  /** Gives an index that keeps metadata chunks anew, with the metadata that their document has now. */
  readd: (keys: readonly number[]) => Promise<void>
}

export interface ChangeDependencies extends Refreshing {
  store: Pick<
    DocumentStore,
    'get' | 'list' | 'countListed' | 'listChunks' | 'delete' | 'patchMetadata'
  >
  index: Pick<ChunkIndex, 'remove' | 'keepsMetadata' | 'check'>
  /** Tells the ingestion that there is work. */
  wake: () => void
  log: { warn(fields: object, message: string): void }
}

/** A change that is made to documents of these collections alone; to any where none are named. */
export interface Bounded {
  among?: Among | undefined
}

/** What clients do to documents without sending them again. */
export function createDocumentChanges({ store, index, readd, wake, log }: ChangeDependencies) {
  const remove = async (id: string, among?: Among): Promise<boolean> => {
    const keys = await store.delete(id, among)
    if (!keys) return false
    // Gone from the document store means never shown again; what stays in the index only takes up room there.
    await index.remove(keys).catch((error: unknown) => {
      log.warn({ err: error, documentId: id }, 'the index keeps a deleted document until restart')
    })
    return true
  }

  return {
    /** Whether there was such a document. The very next query no longer finds it. */
    remove,

    /**
     * Deletes all that a selection takes, where `confirm` is their number: `changed_meanwhile` where it is not. What
     * was deleted before `signal` was aborted stays so.
     */
    async removeAll(
      { dryRun, confirm, collection, among, ...given }: DeletionQuery & Bounded,
      signal: AbortSignal,
    ): Promise<Deletion> {
      const selection = { ...given, filter: within({ filter: given.filter, collection }) }
      const matched = await store.countListed(selection, signal)
      if (dryRun) return { matched, deleted: 0 }
      if (confirm === undefined) {
        const message = 'confirm: must be the number of documents, which dryRun=true tells'
        throw new AppError('invalid_request', message, { param: 'confirm' })
      }
      const ids = confirm === matched ? await idsOf(store, selection, signal) : []
      if (ids.length !== confirm) {
        const message = `confirm: ${matched} documents are meant now, not ${confirm}; nothing was deleted`
        throw new AppError('changed_meanwhile', message, { param: 'confirm' })
      }
      let deleted = 0
      for (let start = 0; start < ids.length; start += DELETED_TOGETHER) {
        signal.throwIfAborted()
        const gone = await Promise.all(
          ids.slice(start, start + DELETED_TOGETHER).map((id) => remove(id, among)),
        )
        deleted += gone.filter(Boolean).length
      }
      return { matched, deleted }
    },

    /**
     * Changes metadata without ingesting the document again; the very next query filters by it. Nothing where there is
     * no such document. Throws `index_unavailable` where the index would have to change and is away: nothing is changed
     * then. Where it is lost in between, it throws what that throws: the same change may be sent again.
     */
    async patch(
      id: string,
      { metadata, among }: DocumentPatch & Bounded,
      signal: AbortSignal,
    ): Promise<StoredDocument | undefined> {
      if (index.keepsMetadata) await index.check(signal)
      const document = await store.patchMetadata(id, metadata, index.keepsMetadata, among)
      if (!document || !index.keepsMetadata) return document
      wake()
      await refreshMetadata({ store, readd }, id)
      return document
    },
  }
}

/** Gives an index the metadata of a document, until what was given is what is stored: another change may come between. */
export async function refreshMetadata({ store, readd }: Refreshing, id: string): Promise<void> {
  const stored = async () => JSON.stringify((await store.get(id))?.metadata)
  let given: string | undefined
  do {
    given = await stored()
    await readd(await chunkKeys(store, id))
  } while (given !== (await stored()))
}

async function idsOf(
  store: Pick<DocumentStore, 'list'>,
  selection: DocumentSelection,
  signal: AbortSignal,
): Promise<string[]> {
  const pages = await Array.fromAsync(documentPages(store, selection, signal))
  return pages.flat().map(({ id }) => id)
}

async function chunkKeys(
  store: Pick<DocumentStore, 'listChunks'>,
  documentId: string,
): Promise<number[]> {
  const keysOf = ({ chunks }: ChunkPage) => chunks.map(({ key }) => key)
  return (await Array.fromAsync(chunkPages(store, documentId), keysOf)).flat()
}
