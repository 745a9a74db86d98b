import { isObject } from '@agent-server/lib/text/json.ts'
import { z } from 'zod'

/** What a passage of a document looks like in items of the Responses API, as a search result or a citation. */
const Passage = z.looseObject({ file_id: z.string() })

const passagesOf = (value: unknown): z.output<typeof Passage>[] =>
  Array.isArray(value) ? value.flatMap((each) => Passage.safeParse(each).data ?? []) : []

/** The ids of the documents of which an item has passages. */
export function documentsIn(item: object): string[] {
  const { results, content }: { results?: unknown; content?: unknown } = item
  const parts = Array.isArray(content) ? content.filter(isObject) : []
  const passages = [results, ...parts.map(({ annotations }) => annotations)].flatMap(passagesOf)
  return passages.map(({ file_id }) => file_id)
}

/** An item without the words of these documents. */
export function withoutWords<Item extends object>(item: Item, hidden: ReadonlySet<string>): Item {
  const emptied = (value: unknown) =>
    passagesOf(value).map((passage) =>
      hidden.has(passage.file_id)
        ? {
            ...passage,
            filename: passage.file_id,
            ...('text' in passage && { text: '', attributes: {} }),
            ...('quotes' in passage && { quotes: [], evidence: undefined }),
          }
        : passage,
    )
  const { results, content }: { results?: unknown; content?: unknown } = item
  const withoutQuotes = (part: unknown) =>
    isObject(part) && part.annotations ? { ...part, annotations: emptied(part.annotations) } : part
  return {
    ...item,
    ...(Array.isArray(results) && { results: emptied(results) }),
    ...(Array.isArray(content) && { content: content.map(withoutQuotes) }),
  }
}

/**
 * An item for those with whom its conversation is shared: what was said, without what cites these documents. Of calls
 * and their results, which may hold anything that was read, only that they were made: pages need each item.
 */
export function visibleToOthers(
  item: Record<string, unknown>,
  hidden: ReadonlySet<string>,
): object {
  const { type, status, content } = item
  if (type !== undefined && type !== 'message')
    return { type, ...(status !== undefined && { status }) }
  if (!Array.isArray(content)) return item
  const isShown = (citation: unknown) =>
    documentsIn({ results: [citation] }).every((id) => !hidden.has(id))
  const uncited = (part: unknown) =>
    isObject(part) && Array.isArray(part.annotations)
      ? { ...part, annotations: part.annotations.filter(isShown) }
      : part
  return { ...item, content: content.map(uncited) }
}
