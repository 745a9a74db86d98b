import { AppError } from '@agent-server/lib/errors.ts'
import { isObject } from '@agent-server/lib/text/json.ts'
import { MAX_MESSAGES } from '@agent-server/schemas/chat.ts'
import { refusal } from '@agent-server/schemas/invalid-request.ts'
import type { Caller } from '@agent-server/schemas/operator/api-key.ts'
import { pageOf } from '@agent-server/wire'
import { z } from 'zod'
import type { Conversations } from '../../conversations/conversations.ts'
import type { ArtifactStore } from '../../stores/artifact-store.ts'
import { fromStored, toListed, toNewItems } from './items.ts'
import type { InputItemList, OutputItem, ResponseObject } from './response-schema.ts'
import type { InputItem, InputItemsQuery, ResponseRequest } from './schema.ts'

type KeptResponse = Omit<ResponseObject, 'output'> & { output: (OutputItem & InputItem)[] }

/** The stored form of a response, with all earlier items and the input. Only `add` writes it: the outline is checked. */
const Kept = z.object({
  response: z.custom<KeptResponse>(isObject),
  items: z.array(z.custom<InputItem>(isObject)),
})
type Kept = z.output<typeof Kept>

type Find = (id: string) => Promise<Kept | undefined>

export type KeptResponses = ReturnType<typeof createKeptResponses>

/** Stores responses that clients may read again and continue; each key sees only its own. Uses `store` exclusively. */
export function createKeptResponses(
  store: ArtifactStore,
  conversations: Pick<Conversations, 'history' | 'append'>,
) {
  const findFor =
    ({ key }: Caller): Find =>
    async (id) => {
      const found = await store.read(id, key?.id)
      // Other stored records have ids, too.
      return found && Kept.safeParse(JSON.parse(Buffer.from(found.bytes).toString())).data
    }

  const before = async (request: ResponseRequest, caller: Caller): Promise<InputItem[]> => {
    const { previous_response_id: id } = request
    const conversationId = conversationIdOf(request)
    if (conversationId !== undefined) {
      if (id) throw refusal('conversation', 'cannot be combined with previous_response_id')
      return (await conversations.history(conversationId, caller)).map(fromStored)
    }
    if (!id) return []
    const kept = await findFor(caller)(id)
    if (!kept)
      throw refusal(
        'previous_response_id',
        `names the response "${id}", which does not exist or has expired`,
      )
    return [...kept.items, ...kept.response.output]
  }

  return {
    /** Throws AppError `response_not_found`. */
    async get(id: string, caller: Caller): Promise<ResponseObject> {
      const kept = await findFor(caller)(id)
      if (!kept) throw notFound(id)
      return kept.response
    },

    /** The items before a response: earlier items, then its input. Throws AppError `response_not_found`. */
    async inputItems(id: string, query: InputItemsQuery, caller: Caller): Promise<InputItemList> {
      const kept = await findFor(caller)(id)
      if (!kept) throw notFound(id)
      const made = id.replace('resp_', 'item_')
      const items = kept.items.map((item, place) => toListed(item, `${made}_${place}`))
      return pageOf(items, query)
    },

    /** Throws AppError `response_not_found`. */
    async remove(id: string, caller: Caller): Promise<void> {
      if (!(await findFor(caller)(id)) || !(await store.remove(id))) throw notFound(id)
    },

    /** Adds the response and its input, the last of all `items`, to the conversation. Throws `conversation_full`. */
    async converse(
      request: ResponseRequest,
      { output }: ResponseObject,
      items: readonly InputItem[],
      caller: Caller,
    ): Promise<void> {
      const conversationId = conversationIdOf(request)
      if (conversationId === undefined) return
      const input =
        typeof request.input === 'string' ? items.slice(-1) : items.slice(-request.input.length)
      await conversations.append(conversationId, toNewItems([...input, ...output]), caller)
    },

    /** Throws AppError `storage_full`. */
    async add(
      response: ResponseObject,
      items: readonly InputItem[],
      { key }: Caller,
    ): Promise<void> {
      const bytes = Buffer.from(JSON.stringify({ response, items }))
      const kept = { id: response.id, name: 'response', mediaType: 'application/json', bytes }
      await store.add({ ...kept, owner: key?.id })
    },

    /**
     * All items so far, with the input. Throws AppError `invalid_request` if some are not stored, or if they are too
     * many or too large.
     */
    async gather(request: ResponseRequest, caller: Caller): Promise<InputItem[]> {
      const { input } = request
      const find = findFor(caller)
      const own = typeof input === 'string' ? [{ role: 'user' as const, content: input }] : input
      const items = [...(await before(request, caller)), ...own]
      if (items.length > MAX_MESSAGES)
        throw refusal('input', `has more than ${MAX_MESSAGES} items including the conversation`)
      const resolved = await resolveReferences(items, find)
      // In bytes it may be three times as much, and the answer will be added.
      if (request.store && JSON.stringify(resolved).length > store.maximumBytes / 4) {
        throw refusal(
          'input',
          'is too large to store together with the conversation; send "store": false',
        )
      }
      return resolved
    },
  }
}

/** The id of the conversation that a request continues. */
export const conversationIdOf = ({ conversation }: ResponseRequest): string | undefined =>
  (typeof conversation === 'string' ? conversation : conversation?.id) ?? undefined

/** Replaces references by the items they name; an item's id contains that of its response. */
async function resolveReferences(items: readonly InputItem[], find: Find): Promise<InputItem[]> {
  // Caches only the output of each response: its earlier items may take megabytes.
  const read = new Map<string, Kept['response']['output']>()
  const resolved: InputItem[] = []
  for (const item of items) {
    if (item.type !== 'item_reference') {
      resolved.push(item)
      continue
    }
    const response = `resp_${/^[a-z]+_([0-9a-f]{32})/.exec(item.id)?.[1]}`
    const output = read.get(response) ?? (await find(response))?.response.output ?? []
    read.set(response, output)
    const found = output.find(({ id }) => id === item.id)
    if (!found) throw refusal('input', `has a reference to "${item.id}", which is not stored`)
    resolved.push(found)
  }
  return resolved
}

function notFound(id: string): AppError {
  const message = `There is no response "${id}". It was not stored, was deleted, or has expired.`
  return new AppError('response_not_found', message, { param: 'id' })
}
