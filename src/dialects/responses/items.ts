import { inTurns } from '@agent-server/lib/in-turns.ts'
import { newId } from '@agent-server/lib/new-id.ts'
import type { NewItem, StoredItem } from '@agent-server/stores'
import type { NewItems } from '../../conversations/conversations.ts'
import type { ItemForm } from '../../conversations/item-form.ts'
import { filesIn, textIn, toMessages } from './request.ts'
import type { InputItemList, OutputItem } from './response-schema.ts'
import type { InputItem } from './schema.ts'

/** Items as clients send them, and as responses have them. */
type AnyItem = InputItem | OutputItem

/** An item as clients see it, with its own id or, if it has none, the given one. */
export function toListed(item: AnyItem, id: string): InputItemList['data'][number] {
  const {
    id: itemId = id,
    type = 'message',
    content,
    ...rest
  }: Record<string, unknown> = { ...item }
  const kind = rest.role === 'assistant' ? 'output_text' : 'input_text'
  const parts = typeof content === 'string' ? [{ type: kind, text: content }] : content
  return {
    ...rest,
    id: String(itemId),
    type: String(type),
    ...(parts !== undefined && { content: parts }),
  }
}

/** New items as a conversation stores them. */
export async function toNewItems(items: readonly AnyItem[]): Promise<NewItems> {
  const questions = items.map((item) =>
    'role' in item && item.role === 'user' ? textIn(item.content) : '',
  )
  const stored = await inTurns(items, toNewItem)
  return { items: stored, question: questions.filter(Boolean).join('\n') }
}

function toNewItem(item: AnyItem): NewItem {
  const { id, ...stored } = toListed(item, newId(ID_WORDS[item.type ?? 'message'] ?? 'item'))
  return { id, json: JSON.stringify(stored), text: 'role' in item ? textIn(item.content) : '' }
}

const ID_WORDS: Record<string, string> = {
  message: 'msg',
  function_call: 'fc',
  function_call_output: 'fco',
  custom_tool_call: 'ctc',
  custom_tool_call_output: 'ctco',
  file_search_call: 'fs',
  reasoning: 'rs',
  item_reference: 'item',
}

/** What only `toNewItem` and the answers of the agent's chat have written. */
export const fromStored = ({ json }: StoredItem): InputItem => JSON.parse(json)

/** Items of conversations are stored as this protocol sends and lists them. */
export const ITEM_FORM: ItemForm = {
  toQuestion: (text, images) => toNewItem({ role: 'user', content: toContent(text, images) }),
  toMessages: (items) => toMessages(items.map(fromStored)),
  toFiles: (items) => filesIn(items.map(fromStored), 0),
}

function toContent(text: string, images: readonly string[]) {
  if (images.length === 0) return text
  const pictures = images.map((url) => ({ type: 'input_image' as const, image_url: url }))
  return [{ type: 'input_text' as const, text }, ...pictures]
}
