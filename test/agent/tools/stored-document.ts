import type { DocumentLookup, DocumentStore, StoredDocument } from '@agent-server/stores'

export interface FakeTable {
  id: string
  title?: string
  /** The name of its file, where it was sent as one. */
  file?: string
  content: string | Uint8Array
  revision?: number
  /** Whether ingestion could not read it. */
  failed?: boolean
}

/** A document as the document store gives it. */
export function documentOf(table: FakeTable): StoredDocument {
  const { id, title, file, content, revision = 1, failed = false } = table
  return {
    id,
    title,
    url: undefined,
    collection: undefined,
    conversation: undefined,
    metadata: undefined,
    status: 'ready',
    error: undefined,
    file: file === undefined ? undefined : { name: file, mediaType: '', size: content.length },
    attempts: 1,
    revision,
    servedRevision: revision,
    chunkCount: 1,
    ...(failed && { status: 'failed', servedRevision: undefined }),
    characters: content.length,
    createdAt: 0,
    updatedAt: 0,
  }
}

/** A fake document store of a few documents, the newest last; a page of it has two. */
export function createFakeLookup(tables: FakeTable[]) {
  const reads: string[] = []
  const find = (id: string) => tables.find((table) => table.id === id)
  const lookup: Pick<DocumentLookup, 'findDocuments' | 'readText'> = {
    async findDocuments(_visibility, { cursor }, signal) {
      signal.throwIfAborted()
      const all = tables.toReversed().map(documentOf)
      const start = Number(cursor ?? 0)
      const documents = all.slice(start, start + 2)
      return { documents, nextCursor: start + 2 < all.length ? String(start + 2) : undefined }
    },
    async readText(_visibility, id) {
      reads.push(id)
      return find(id)?.content.toString()
    },
  }
  const store: Pick<DocumentStore, 'get' | 'readFile'> = {
    async get(_visibility, id) {
      const found = find(id)
      return found && documentOf(found)
    },
    async readFile(_visibility, id) {
      reads.push(`file ${id}`)
      const content = find(id)?.content
      return content === undefined ? undefined : pieces(Buffer.from(content))
    },
  }
  return { lookup, store, reads }
}

async function* pieces(bytes: Uint8Array) {
  for (let start = 0; start < bytes.length; start += 7) yield bytes.subarray(start, start + 7)
}
