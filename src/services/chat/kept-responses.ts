import { AppError } from '../../errors.ts'
import { MAX_MESSAGES } from '../../schemas/chat.ts'
import { refusal } from '../../schemas/invalid-request.ts'
import type { InputItem, InputItemsQuery, ResponseRequest } from '../../schemas/openai/response.ts'
import type {
  InputItemList,
  OutputItem,
  ResponseObject,
} from '../../schemas/openai/response-object.ts'
import type { Caller } from '../../schemas/operator/api-key.ts'
import type { ArtifactStore } from '../../stores/artifact-store.ts'

/** The stored form of a response. */
interface Kept {
  response: Omit<ResponseObject, 'output'> & { output: (OutputItem & InputItem)[] }
  /** All earlier items and the input. */
  items: InputItem[]
}

type Find = (id: string) => Promise<Kept | undefined>

export type KeptResponses = ReturnType<typeof createKeptResponses>

/** Stores responses that clients may read again and continue; each key sees only its own. Uses `store` exclusively. */
export function createKeptResponses(store: ArtifactStore) {
  const findFor =
    ({ key }: Caller): Find =>
    async (id) => {
      const found = await store.read(id, key?.id)
      return found && JSON.parse(Buffer.from(found.bytes).toString())
    }

  const before = async (
    { previous_response_id: id }: ResponseRequest,
    find: Find,
  ): Promise<InputItem[]> => {
    if (!id) return []
    const kept = await find(id)
    if (!kept) throw refusal('previous_response_id', `has no response "${id}", or no longer`)
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
      const items = [...(await before(request, find)), ...own]
      if (items.length > MAX_MESSAGES) throw refusal('input', `comes to over ${MAX_MESSAGES} items`)
      const resolved = await resolveReferences(items, find)
      // In bytes it may be three times as much, and the answer will be added.
      if (request.store && JSON.stringify(resolved).length > store.maximumBytes / 4) {
        throw refusal('input', 'is too large to be kept with what came before: send "store": false')
      }
      return resolved
    },
  }
}

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
    if (!found) throw refusal('input', `has a reference to "${item.id}", which is not kept`)
    resolved.push(found)
  }
  return resolved
}

/** Returns one page of the items. Throws AppError `invalid_request` if `after` is not one of them. */
function pageOf(
  items: InputItemList['data'],
  { limit, order, after }: InputItemsQuery,
): InputItemList {
  const all = order === 'asc' ? items : items.toReversed()
  const start = after === undefined ? 0 : all.findIndex(({ id }) => id === after) + 1
  if (after !== undefined && start === 0) throw refusal('after', 'is none of its items')
  const data = all.slice(start, start + limit)
  const [first_id, last_id] = [data[0]?.id ?? null, data.at(-1)?.id ?? null]
  return { object: 'list', data, first_id, last_id, has_more: start + limit < all.length }
}

/** An item as clients see it, with its own id or, if it has none, the id `made`. */
function toListed(item: InputItem, made: string): InputItemList['data'][number] {
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

function notFound(id: string): AppError {
  const message = `There is no response "${id}": it was not kept, was deleted, or is too old`
  return new AppError('response_not_found', message, { param: 'id' })
}
