import { type Call, mapCall, Pages } from './call.ts'
import { type ChatStream, openChat } from './chat-stream.ts'
import type {
  Conversation,
  ConversationItem,
  ConversationItemList,
  ConversationList,
  ConversationPatch,
  CreateConversation,
} from './contract.ts'
import type { RequestOptions, Transport } from './transport.ts'

const PAGE = 100

const pathOf = (id: string, ...parts: string[]) =>
  ['/v1/conversations', id, ...parts]
    .map((part, i) => (i ? encodeURIComponent(part) : part))
    .join('/')

interface ConversationSelection {
  /** Only those with this text in the title or in a question. */
  search?: string | undefined
  /** Lists the ones that others share with you instead of your own. */
  shared?: boolean | undefined
  limit?: number | undefined
}

/** Conversations that the server stores; ask in one with `chat({ conversation: { id } })`. */
export class Conversations {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  create(conversation: CreateConversation = {}, options?: RequestOptions): Call<Conversation> {
    const request = { method: 'POST', path: '/v1/conversations', json: conversation } as const
    return this.#transport.json(request, options)
  }

  /** Lists conversations, the most recently changed first. */
  list({ search, shared, limit = PAGE, ...options }: RequestOptions & ConversationSelection = {}) {
    return new Pages<Conversation>((after) => {
      const query = { search, shared: shared ? 'true' : undefined, limit, after }
      const request = { method: 'GET', path: '/v1/conversations', query } as const
      return mapCall(this.#transport.json<ConversationList>(request, options), toPage)
    })
  }

  /** Throws `NotFoundError`. */
  get(id: string, options?: RequestOptions): Call<Conversation> {
    return this.#transport.json({ method: 'GET', path: pathOf(id) }, options)
  }

  /** Changes title, metadata, the branch to continue with, or who may read it. */
  update(id: string, patch: ConversationPatch, options?: RequestOptions): Call<Conversation> {
    return this.#transport.json({ method: 'POST', path: pathOf(id), json: patch }, options)
  }

  delete(id: string, options?: RequestOptions): Call<void> {
    const deleted = this.#transport.json<unknown>({ method: 'DELETE', path: pathOf(id) }, options)
    return mapCall(deleted, () => undefined)
  }

  /** Lists the items of the current branch or, with `branches`, of all, the oldest first. */
  items(id: string, { branches, ...options }: RequestOptions & { branches?: boolean } = {}) {
    return new Pages<ConversationItem>((after) => {
      const all = branches ? 'true' : undefined
      const query = { limit: PAGE, order: 'asc', branches: all, after }
      const request = { method: 'GET', path: pathOf(id, 'items'), query } as const
      return mapCall(this.#transport.json<ConversationItemList>(request, options), toPage)
    })
  }

  /** Streams an answer from its beginning with its steps, and goes on while it is generated. */
  follow(id: string, answer: string, options?: RequestOptions): ChatStream {
    const path = pathOf(id, 'items', answer, 'events')
    const query = { includeSteps: 'true' }
    return openChat(this.#transport, { method: 'GET', path, query }, options)
  }

  /** Stops an answer that is being generated; what there is of it is kept. */
  cancel(id: string, answer: string, options?: RequestOptions): Call<ConversationItem> {
    const path = pathOf(id, 'items', answer, 'cancel')
    return this.#transport.json({ method: 'POST', path }, options)
  }
}

const toPage = <Item>(list: { data: Item[]; last_id: string | null; has_more: boolean }) => ({
  items: list.data,
  nextCursor: list.has_more ? (list.last_id ?? undefined) : undefined,
})
