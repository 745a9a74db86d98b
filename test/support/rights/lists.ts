import { DocumentList } from '@agent-server/schemas/document.ts'
import type { TestServer } from '../server.ts'

/** The ids of all documents that a list has, page by page, and the total that it tells. */
export async function listAll(request: TestServer['request']) {
  const ids: string[] = []
  let total = 0
  for (let cursor = ''; ; ) {
    const more = cursor && `&cursor=${encodeURIComponent(cursor)}`
    const response = await request(`/documents?limit=100&total=true${more}`)
    const page = DocumentList.parse(await response.json())
    ids.push(...page.documents.map(({ id }) => id))
    total = page.total ?? 0
    if (!page.nextCursor) return { ids, total }
    cursor = page.nextCursor
  }
}
