import type { Hit } from '@agent-server/schemas/query.ts'

/** A hit with this identifier and a text that names it. */
export function hitOf(id: string): Hit {
  return {
    id,
    score: 1,
    text: `Text of ${id}.`,
    title: `Title of ${id}`,
    documentId: `doc_${id}`,
    start: 0,
    end: 10,
  }
}
