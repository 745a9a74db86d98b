import { batched } from '@agent-server/lib/batches.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import { refusal } from '@agent-server/schemas/invalid-request.ts'
import type { Documents } from '../services.ts'
import {
  type Cleanup,
  MAX_FILES,
  type Manifest,
  type SyncDiff,
  type SyncedFile,
  type SyncedFiles,
} from './schema.ts'
import {
  nameOf,
  parentOf,
  pathOf,
  type Synced,
  syncedDocuments,
  syncedOf,
  toDirectory,
} from './synced-documents.ts'

/**
 * Marks the id of a document that the next upload replaces. The program deletes such a document before it sends the
 * new content; deleted for good, it could not be found until that is ready. No id of a document begins like this.
 */
const REPLACED = 'replaced:'

/** Documents that are looked up or deleted concurrently. */
const CONCURRENCY = 100

/** Compares a source with the documents that came from it, and deletes what it no longer has. */
export function createSync(documents: Pick<Documents, 'find' | 'list' | 'remove'>) {
  /** Returns how many there were. */
  const removeAll = async (ids: readonly string[], signal: AbortSignal): Promise<number> => {
    let count = 0
    for (const batch of batched(ids, CONCURRENCY)) {
      signal.throwIfAborted()
      const results = await Promise.all(batch.map((id) => removeIfThere(documents, id)))
      count += results.filter(Boolean).length
    }
    return count
  }

  return {
    /** What has to be sent and deleted for the collection to hold what the manifest names. */
    async diff(collection: string, { manifest }: Manifest, signal: AbortSignal): Promise<SyncDiff> {
      const entries = new Map(manifest.map((entry) => [pathOf(entry.path, entry.filename), entry]))
      const directories = directoriesOf(entries.keys())
      const modified: SyncDiff['modified'] = []
      const deleted: SyncDiff['deleted'] = []
      const paths: string[] = []
      let unmodified_count = 0
      for await (const { id, path, hash } of syncedDocuments(documents, collection, signal)) {
        paths.push(path)
        const entry = entries.get(path)
        entries.delete(path)
        if (!entry) deleted.push({ file_id: id, path: parentOf(path), filename: nameOf(path) })
        else if (entry.checksum === hash) unmodified_count += 1
        else modified.push({ stale_file_id: REPLACED + id, ...entry })
      }
      const existing = directoriesOf(paths)
      return {
        added: [...entries.values()],
        modified,
        deleted,
        unmodified_count,
        mkdir: [...directories].filter((path) => !existing.has(path)),
        rmdir: [...existing].filter((path) => !directories.has(path)),
        directory_map: Object.fromEntries([
          ...[...existing].map((path) => [path, path]),
          ...manifest.flatMap(({ path }) => (path === '' ? [] : [[path, toDirectory(path)]])),
        ]),
      }
    },

    /** Throws `invalid_request`, and deletes nothing, if a document did not come from the source. */
    async cleanup(collection: string, { file_ids }: Cleanup, signal: AbortSignal) {
      const ids = file_ids.filter((id) => !id.startsWith(REPLACED))
      for (const batch of batched(ids, CONCURRENCY)) {
        signal.throwIfAborted()
        const matches = await Promise.all(batch.map(documents.find))
        const other = matches.find((each) => each && !syncedOf(collection, each))
        if (other) throw refusal('file_ids', `"${other.id}" did not come from this source`)
      }
      return { removed: await removeAll(ids, signal) }
    },

    /** Deletes all documents that came from the source. */
    async reset(collection: string, signal: AbortSignal) {
      const synced = syncedDocuments(documents, collection, signal)
      const ids = await Array.fromAsync(synced, ({ id }) => id)
      return { removed: await removeAll(ids, signal) }
    },

    async list(collection: string, signal: AbortSignal): Promise<SyncedFiles> {
      const items: SyncedFile[] = []
      let total = 0
      for await (const synced of syncedDocuments(documents, collection, signal)) {
        total += 1
        if (items.length < MAX_FILES) items.push(toFile(synced))
      }
      return { items, total }
    },
  }
}

async function removeIfThere(documents: Pick<Documents, 'remove'>, id: string): Promise<boolean> {
  try {
    await documents.remove(id)
    return true
  } catch (error) {
    if (error instanceof AppError && error.code === 'document_not_found') return false
    throw error
  }
}

function toFile({ id, path, hash, size }: Synced): SyncedFile {
  return { id, filename: nameOf(path), meta: { name: path, size, file_hash: hash } }
}

/** The directories of files, each after its parent. Throws `invalid_request` if there are too many. */
function directoriesOf(paths: Iterable<string>): Set<string> {
  const directories = new Set<string>()
  for (const path of paths) {
    const missing: string[] = []
    for (let each = parentOf(path); each !== '' && !directories.has(each); each = parentOf(each)) {
      missing.push(each)
    }
    for (const each of missing.reverse()) directories.add(each)
    if (directories.size > MAX_FILES) {
      throw refusal('manifest', `must not have more than ${MAX_FILES} directories`)
    }
  }
  return directories
}
