import { sendEvents } from '@agent-server/http/event-stream.ts'
import { groupRoutes } from '@agent-server/http/reference.ts'
import { callSignal } from '@agent-server/http/shutdown.ts'
import { inTurns } from '@agent-server/lib/in-turns.ts'
import { ChatFrame } from '@agent-server/schemas/chat.ts'
import { errorResponses } from '@agent-server/schemas/error.ts'
import { toList } from '@agent-server/wire'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import type { Answers } from '../../conversations/answers.ts'
import { type Conversations, refOf } from '../../conversations/conversations.ts'
import { CHAT_FORMAT } from '../chat/dialect.ts'
import { toNewItems } from '../responses/items.ts'
import { toConversation, toItem } from './items.ts'
import {
  AnswerEventsQuery,
  Conversation,
  ConversationDeleted,
  ConversationItem,
  ConversationItemList,
  ConversationItemParams,
  ConversationItemsQuery,
  ConversationList,
  ConversationListQuery,
  ConversationParams,
  ConversationPatch,
  NewConversation,
  NewConversationItems,
} from './schema.ts'

interface Services {
  conversations: Conversations
  answers: Answers
}

export const conversationRoutes: FastifyPluginAsyncZod<Services> = async (app, services) => {
  groupRoutes(app, 'chat', ['chat'])
  const { conversations } = services
  const oneConversation = {
    200: Conversation.describe('The conversation.'),
    ...errorResponses(404),
  }

  app.post('/v1/conversations', {
    schema: {
      operationId: 'createConversation',
      summary: 'Create a conversation',
      description:
        'Each key keeps up to 10,000 conversations and 1 GB, for a year after their last change; the least recently changed are deleted first. A model is sent up to 4 MB of one, from the end. Continue one with `conversation` in `/v1/responses` or `/chat`.',
      body: NewConversation,
      response: { 200: Conversation.describe('The conversation.'), ...errorResponses(409, 507) },
    },
    async handler({ body: { items, metadata, title }, caller }) {
      const first = items ? await toNewItems(items) : undefined
      const conversation = { metadata: metadata ?? {}, title: title ?? undefined, first }
      return toConversation(await conversations.create(conversation, caller))
    },
  })

  app.get('/v1/conversations', {
    schema: {
      operationId: 'listConversations',
      summary: 'List conversations',
      description:
        'An extension of OpenAI’s protocol. Lists the most recently changed conversations first.',
      querystring: ConversationListQuery,
      response: { 200: ConversationList.describe('A page of conversations.'), ...errorResponses() },
    },
    async handler({ query, caller }) {
      const { page, hasMore } = await conversations.list(query, caller)
      return toList(page.map(toConversation), hasMore)
    },
  })

  app.get('/v1/conversations/:id', {
    schema: {
      operationId: 'getConversation',
      summary: 'Get a conversation',
      description:
        'Returns a stored conversation, without its items: your own, or one that its owner shares with you.',
      params: ConversationParams,
      response: oneConversation,
    },
    handler: async ({ params, caller }) =>
      toConversation(await conversations.read(params.id, caller)),
  })

  app.post('/v1/conversations/:id', {
    schema: {
      operationId: 'updateConversation',
      summary: 'Update a conversation',
      description:
        'Changes the metadata, the title, the branch to continue with, or who may read it. A field that is left out stays as it is.',
      params: ConversationParams,
      body: ConversationPatch,
      response: oneConversation,
    },
    async handler({ params, body, caller }) {
      const { metadata, title, access, last_item_id: lastItem } = body
      const change = {
        ...(metadata && { metadata }),
        ...(title != null && { title }),
        ...(lastItem != null && { lastItem }),
        ...(access && { access }),
      }
      return toConversation(await conversations.change(params.id, change, caller, body.expected))
    },
  })

  app.delete('/v1/conversations/:id', {
    schema: {
      operationId: 'deleteConversation',
      summary: 'Delete a conversation',
      description: 'Deletes the conversation with all its items, and stops an answer in progress.',
      params: ConversationParams,
      response: { 200: ConversationDeleted.describe('Deleted.'), ...errorResponses(404) },
    },
    handler: async ({ params: { id }, caller }) => {
      await conversations.remove(id, caller)
      return { id, object: 'conversation.deleted' as const, deleted: true as const }
    },
  })

  await app.register(itemRoutes, services)
}

const itemRoutes: FastifyPluginAsyncZod<Services> = async (app, { conversations, answers }) => {
  app.post('/v1/conversations/:id/items', {
    schema: {
      operationId: 'createConversationItems',
      summary: 'Add items',
      description: 'Adds up to 20 items at the end of the current branch.',
      params: ConversationParams,
      body: NewConversationItems,
      response: {
        200: ConversationItemList.describe('The new items.'),
        ...errorResponses(404, 409, 507),
      },
    },
    async handler({ params, body, caller }) {
      const added = await toNewItems(body.items)
      const items = await conversations.addItems(params.id, added, caller)
      return toList(await inTurns(items, toItem), false)
    },
  })

  app.get('/v1/conversations/:id/items', {
    schema: {
      operationId: 'listConversationItems',
      summary: 'List items',
      description:
        'Returns the items of the current branch or, with `branches`, of all branches. A page of long items has fewer than `limit`: 4 MB, or one item.',
      params: ConversationParams,
      querystring: ConversationItemsQuery,
      response: { 200: ConversationItemList.describe('A page of items.'), ...errorResponses(404) },
    },
    async handler({ params: { id }, query, caller }) {
      const page = await conversations.listItems(id, query, caller)
      return { ...page, data: await inTurns(page.data, toItem) }
    },
  })

  app.get('/v1/conversations/:id/items/:item', {
    schema: {
      operationId: 'getConversationItem',
      summary: 'Get an item',
      description: 'Returns one question or answer of a conversation.',
      params: ConversationItemParams,
      response: { 200: ConversationItem.describe('The item.'), ...errorResponses(404) },
    },
    handler: async ({ params: { id, item }, caller }) =>
      toItem(await conversations.getItem(id, item, caller)),
  })

  app.delete('/v1/conversations/:id/items/:item', {
    schema: {
      operationId: 'deleteConversationItem',
      summary: 'Delete an item',
      description: 'The items after it then follow the item before it.',
      params: ConversationItemParams,
      response: { 200: Conversation.describe('The conversation.'), ...errorResponses(404) },
    },
    handler: async ({ params: { id, item }, caller }) =>
      toConversation(await conversations.removeItem(id, item, caller)),
  })

  app.get('/v1/conversations/:id/items/:item/events', {
    config: { takesLong: true },
    schema: {
      operationId: 'followAnswer',
      summary: 'Follow an answer',
      description:
        'An extension of OpenAI’s protocol. Streams an answer of `/chat` from the beginning, in the same frames, until it is complete. Any client can follow it, any number of times, including after a lost connection.',
      params: ConversationItemParams,
      querystring: AnswerEventsQuery,
      response: {
        200: {
          description: 'The answer.',
          content: { 'text/event-stream': { schema: ChatFrame } },
        },
        ...errorResponses(404),
      },
    },
    handler({ params: { id, item }, query, caller }, reply) {
      const ref = { ...refOf(id, caller), item, caller }
      const frames = answers.follow(ref, query.includeSteps, callSignal(reply))
      sendEvents(reply, frames, CHAT_FORMAT)
    },
  })

  app.post('/v1/conversations/:id/items/:item/cancel', {
    schema: {
      operationId: 'cancelAnswer',
      summary: 'Stop an answer',
      description:
        'An extension of OpenAI’s protocol. Stops an answer of `/chat` that is being generated, and keeps the text so far.',
      params: ConversationItemParams,
      response: { 200: ConversationItem.describe('The answer.'), ...errorResponses(404) },
    },
    handler: async ({ params: { id, item }, caller }) => {
      await answers.cancel({ ...refOf(id, caller), item })
      return toItem(await conversations.getItem(id, item, caller))
    },
  })
}
