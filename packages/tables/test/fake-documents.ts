import type { DocumentSource, TableDocument } from '../src/document-source.ts'

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

export function documentOf(table: FakeTable): TableDocument {
  const { id, title, file, content, revision = 1, failed = false } = table
  return {
    id,
    title,
    file: file === undefined ? undefined : { name: file, size: content.length },
    revision,
    servedRevision: failed ? undefined : revision,
  }
}

/** A fake of where a few documents come from, the newest last; `reads` has what was read of them. */
export function createFakeDocuments(tables: readonly FakeTable[]) {
  const reads: string[] = []
  const find = (id: string) => tables.find((table) => table.id === id)
  const documents: DocumentSource<TableDocument, unknown> = {
    async *list(_visibility, maximum, signal) {
      signal.throwIfAborted()
      yield* tables.toReversed().map(documentOf).slice(0, maximum)
    },
    async get(id) {
      const table = find(id)
      return table && documentOf(table)
    },
    async readFile(id) {
      reads.push(`file ${id}`)
      const content = find(id)?.content
      return content === undefined ? undefined : pieces(Buffer.from(content))
    },
    async readText(id) {
      reads.push(id)
      return find(id)?.content.toString()
    },
  }
  return { documents, reads }
}

async function* pieces(bytes: Uint8Array) {
  for (let start = 0; start < bytes.length; start += 7) yield bytes.subarray(start, start + 7)
}
