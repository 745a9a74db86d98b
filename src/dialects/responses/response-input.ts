import { MAX_MESSAGES } from '@agent-server/schemas/chat.ts'
import { refusal } from '@agent-server/schemas/invalid-request.ts'
import type { Caller } from '@agent-server/schemas/operator/api-key.ts'
import type { Conversations } from '../../conversations/conversations.ts'
import { fromStored, toNewItems } from './items.ts'
import type { ResponseObject } from './response-schema.ts'
import { type InputItem, isForeign, type ResponseRequest } from './schema.ts'
import type { StoredResponse, StoredResponses } from './stored-responses.ts'

export interface ResponseHistory {
  storedResponses: Pick<StoredResponses, 'find' | 'add' | 'maximumBytes'>
  conversations: Pick<Conversations, 'history' | 'append'>
}

export const conversationIdOf = ({ conversation }: ResponseRequest): string | undefined =>
  (typeof conversation === 'string' ? conversation : conversation?.id) ?? undefined

/** How many of the items so far are the request's own. */
export const ownItems = ({ input }: ResponseRequest) =>
  typeof input === 'string' ? 1 : input.length

/**
 * All items so far, with the input. Throws AppError `invalid_request` if some are not stored, or if they are too many
 * or too large.
 */
export async function gatherItems(
  history: ResponseHistory,
  request: ResponseRequest,
  caller: Caller,
): Promise<InputItem[]> {
  const { storedResponses } = history
  const { input } = request
  const own = typeof input === 'string' ? [{ role: 'user' as const, content: input }] : input
  const items = [...(await earlierItems(history, request, caller)), ...own]
  if (items.length > MAX_MESSAGES)
    throw refusal('input', `has more than ${MAX_MESSAGES} items including the conversation`)
  const resolved = await resolveReferences(items, (id) => storedResponses.find(id, caller))
  // In bytes it may be three times as much, and the answer will be added.
  const maximum = storedResponses.maximumBytes / 4
  if (request.store && JSON.stringify(resolved).length > maximum) {
    throw refusal(
      'input',
      'is too large to store together with the conversation; send "store": false',
    )
  }
  return resolved
}

/**
 * Adds the response and its input, the last of all `items`, to the conversation, if there is one. Throws
 * `conversation_full`.
 */
export async function continueConversation(
  { conversations }: ResponseHistory,
  request: ResponseRequest,
  { output }: ResponseObject,
  items: readonly InputItem[],
  caller: Caller,
): Promise<void> {
  const conversationId = conversationIdOf(request)
  if (conversationId === undefined) return
  const input = items.slice(-ownItems(request)).filter((item) => !isForeign(item))
  await conversations.append(conversationId, await toNewItems([...input, ...output]), caller)
}

async function earlierItems(
  { storedResponses, conversations }: ResponseHistory,
  request: ResponseRequest,
  caller: Caller,
): Promise<InputItem[]> {
  const { previous_response_id: id } = request
  const conversationId = conversationIdOf(request)
  if (conversationId !== undefined) {
    if (id) throw refusal('conversation', 'cannot be combined with previous_response_id')
    return (await conversations.history(conversationId, caller)).map(fromStored)
  }
  if (!id) return []
  const stored = await storedResponses.find(id, caller)
  if (!stored)
    throw refusal(
      'previous_response_id',
      `names the response "${id}", which does not exist or has expired`,
    )
  return [...stored.items, ...stored.response.output]
}

/** Replaces references by the items they name; an item's id contains that of its response. */
async function resolveReferences(
  items: readonly InputItem[],
  find: (id: string) => Promise<StoredResponse | undefined>,
): Promise<InputItem[]> {
  // Caches only the output of each response: its earlier items may take megabytes.
  const outputs = new Map<string, StoredResponse['response']['output']>()
  const resolved: InputItem[] = []
  for (const item of items) {
    if (item.type !== 'item_reference') {
      resolved.push(item)
      continue
    }
    const response = `resp_${/^[a-z]+_([0-9a-f]{32})/.exec(item.id)?.[1]}`
    const output = outputs.get(response) ?? (await find(response))?.response.output ?? []
    outputs.set(response, output)
    const target = output.find(({ id }) => id === item.id)
    if (!target) throw refusal('input', `has a reference to "${item.id}", which is not stored`)
    resolved.push(target)
  }
  return resolved
}
