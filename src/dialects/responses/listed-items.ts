import { refusal } from '../../schemas/invalid-request.ts'
import type { InputItemList, OutputItem } from './response-schema.ts'
import type { InputItem, InputItemsQuery } from './schema.ts'

/** Returns one page of the items. Throws AppError `invalid_request` if `after` is not one of them. */
export function pageOf<Item extends { id: string }>(
  items: readonly Item[],
  { limit, order, after }: InputItemsQuery,
) {
  const all = order === 'asc' ? items : items.toReversed()
  const start = after === undefined ? 0 : all.findIndex(({ id }) => id === after) + 1
  if (after !== undefined && start === 0) throw refusal('after', 'is not one of the items')
  const data = all.slice(start, start + limit)
  const [first_id, last_id] = [data[0]?.id ?? null, data.at(-1)?.id ?? null]
  return { object: 'list' as const, data, first_id, last_id, has_more: start + limit < all.length }
}

/** An item as clients see it, with its own id or, if it has none, the id `made`. */
export function toListed(
  item: InputItem | OutputItem,
  made: string,
): InputItemList['data'][number] {
  const { id = made, type = 'message', content, ...rest }: Record<string, unknown> = { ...item }
  const kind = rest.role === 'assistant' ? 'output_text' : 'input_text'
  const parts = typeof content === 'string' ? [{ type: kind, text: content }] : content
  return {
    ...rest,
    id: String(id),
    type: String(type),
    ...(parts !== undefined && { content: parts }),
  }
}
