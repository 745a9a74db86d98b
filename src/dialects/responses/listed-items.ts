import type { InputItemList, OutputItem } from './response-schema.ts'
import type { InputItem } from './schema.ts'

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
