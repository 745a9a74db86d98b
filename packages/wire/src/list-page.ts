import { refusal } from '@agent-server/schemas/invalid-request.ts'
import { z } from 'zod'

/** OpenAI's shape of a page of items that have an `id`. */
export const listOf = <Item extends z.ZodType>(item: Item) =>
  z.object({
    object: z.literal('list'),
    data: z.array(item).describe('The items of this page.'),
    first_id: z.string().nullable().describe('The first item of this page; null if it is empty.'),
    last_id: z
      .string()
      .nullable()
      .describe('The last item of this page; send it as `after` to get the next page.'),
    has_more: z.boolean().describe('Whether there is another page.'),
  })

export function toList<Item extends { id: string }>(data: Item[], has_more: boolean) {
  const [first, last] = [data[0]?.id ?? null, data.at(-1)?.id ?? null]
  return { object: 'list' as const, data, first_id: first, last_id: last, has_more }
}

/** Which page of a list; `after` is the id of an item. */
export interface PageQuery {
  limit: number
  order: 'asc' | 'desc'
  after?: string | undefined
}

/** One page of all the items. Throws AppError `invalid_request` if `after` is not one of them. */
export function pageOf<Item extends { id: string }>(
  items: readonly Item[],
  { limit, order, after }: PageQuery,
) {
  const all = order === 'asc' ? items : items.toReversed()
  const start = after === undefined ? 0 : all.findIndex(({ id }) => id === after) + 1
  if (after !== undefined && start === 0) throw refusal('after', 'is not one of the items')
  return toList(all.slice(start, start + limit), start + limit < all.length)
}
