import { AppError } from '@agent-server/lib/errors.ts'
import { isObject } from '@agent-server/lib/text/json.ts'
import { type Caller, ownerIdOf } from '@agent-server/schemas/operator/api-key.ts'
import type { ArtifactStore } from '@agent-server/stores'
import { pageOf } from '@agent-server/wire'
import { z } from 'zod'
import { documentsIn, withoutWords } from '../../conversations/cited-items.ts'
import { withoutPassages } from '../../conversations/withheld.ts'
import type { HiddenDocuments } from '../../documents/hidden-documents.ts'
import { toListed } from './items.ts'
import type { InputItemList, OutputItem, ResponseObject } from './response-schema.ts'
import type { InputItem, InputItemsQuery } from './schema.ts'

type ReadableResponse = Omit<ResponseObject, 'output'> & { output: (OutputItem & InputItem)[] }

/** The stored form of a response, with all earlier items and the input. Only `add` writes it: the outline is checked. */
const StoredResponse = z.object({
  response: z.custom<ReadableResponse>(isObject),
  items: z.array(z.custom<InputItem>(isObject)),
})
export type StoredResponse = z.output<typeof StoredResponse>

/** Responses that clients may read again and continue; each key sees only its own. Uses the store exclusively. */
export class StoredResponses {
  readonly #store: ArtifactStore
  readonly #hiddenOf: HiddenDocuments

  constructor(store: ArtifactStore, hiddenOf: HiddenDocuments) {
    this.#store = store
    this.#hiddenOf = hiddenOf
  }

  get maximumBytes(): number {
    return this.#store.maximumBytes
  }

  async find(id: string, caller: Caller): Promise<StoredResponse | undefined> {
    const record = await this.#store.read(id, ownerIdOf(caller))
    // Other stored records have ids, too.
    const stored =
      record && StoredResponse.safeParse(JSON.parse(Buffer.from(record.bytes).toString())).data
    return stored && this.#withhold(stored, caller)
  }

  /** Without the words of documents that the caller may not read any more. */
  async #withhold(stored: StoredResponse, caller: Caller): Promise<StoredResponse> {
    const { response, items } = stored
    const all = [...items, ...response.output]
    const { agent } = response
    const hits = agent && 'hits' in agent ? agent.hits : undefined
    const ids = [...all.flatMap(documentsIn), ...(hits ?? []).map(({ documentId }) => documentId)]
    const hidden = await this.#hiddenOf(ids, caller)
    if (hidden.size === 0) return stored
    const output = response.output.map((item) => withoutWords(item, hidden))
    return {
      response: {
        ...response,
        output,
        ...(hits && { agent: { ...agent, ...withoutPassages({ ...agent, hits }, hidden) } }),
      },
      items: items.map((item) => withoutWords(item, hidden)),
    }
  }

  /** Throws AppError `response_not_found`. */
  async get(id: string, caller: Caller): Promise<ResponseObject> {
    return (await this.#require(id, caller)).response
  }

  /** The items before a response: earlier items, then its input. Throws AppError `response_not_found`. */
  async inputItems(id: string, query: InputItemsQuery, caller: Caller): Promise<InputItemList> {
    const stored = await this.#require(id, caller)
    const prefix = id.replace('resp_', 'item_')
    const items = stored.items.map((item, place) => toListed(item, `${prefix}_${place}`))
    return pageOf(items, query)
  }

  /** Throws AppError `response_not_found`. */
  async remove(id: string, caller: Caller): Promise<void> {
    await this.#require(id, caller)
    if (!(await this.#store.remove(id))) throw notFound(id)
  }

  /** Throws AppError `storage_full`. */
  async add(response: ResponseObject, items: readonly InputItem[], caller: Caller): Promise<void> {
    const bytes = Buffer.from(JSON.stringify({ response, items }))
    const record = { id: response.id, name: 'response', mediaType: 'application/json', bytes }
    await this.#store.add({ ...record, owner: ownerIdOf(caller) })
  }

  async #require(id: string, caller: Caller): Promise<StoredResponse> {
    const stored = await this.find(id, caller)
    if (!stored) throw notFound(id)
    return stored
  }
}

function notFound(id: string): AppError {
  const message = `There is no response "${id}". It was not stored, was deleted, or has expired.`
  return new AppError('response_not_found', message, { param: 'id' })
}
