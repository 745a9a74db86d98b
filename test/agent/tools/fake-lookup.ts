import type { Visibility } from '@agent-server/lib/visibility.ts'
import type { Filter } from '@agent-server/schemas/metadata.ts'
import type { DocumentLookup, StoredDocument } from '@agent-server/stores'
import type { LookupQuery, PartQuery, ValueQuery } from '../../../packages/stores/src/lookup.ts'
import { documentOf } from './stored-document.ts'

/** A fake document store: everybody sees every document, every filter takes each, and each question is kept. */
export function createFakeDocuments(texts: readonly string[]) {
  const documents = texts.map(
    (content, n): StoredDocument => ({
      ...documentOf({ id: `d${n}`, title: `Title ${n}`, content }),
      metadata: { n },
    }),
  )
  const queries: LookupQuery[] = []
  const filters: (Filter | undefined)[] = []
  const visibilities: Visibility[] = []
  const valueQueries: ValueQuery[] = []
  const parts: PartQuery[] = []
  const lookup: DocumentLookup = {
    async findDocuments(_visibility, query) {
      queries.push(query)
      const start = Number(query.cursor ?? 0)
      const end = start + query.limit
      const nextCursor = end < documents.length ? String(end) : undefined
      return { documents: documents.slice(start, end), nextCursor }
    },
    async countDocuments(visibility, filter) {
      visibilities.push(visibility)
      filters.push(filter)
      return documents.length
    },
    collections: async () => [],
    goneConversations: async () => [],
    metadataFields: async () => [
      { name: 'n', kind: 'number', documents: texts.length, least: 0, most: texts.length - 1 },
    ],
    async metadataValues(_visibility, query) {
      valueQueries.push(query)
      return [{ value: 'x', documents: 2 }]
    },
    readText: async (_visibility, id) => texts[Number(id.slice(1))],
    async readPart(_visibility, part) {
      parts.push(part)
      const text = texts[Number(part.documentId.slice(1))]
      if (text === undefined) return undefined
      return { text: text.slice(part.start, part.end), length: text.length, isWhole: true }
    },
  }
  return { lookup, queries, filters, visibilities, valueQueries, parts }
}
