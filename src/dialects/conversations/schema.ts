import { boundedText, Flag, filledText } from '@agent-server/lib/fields.ts'
import { Access } from '@agent-server/schemas/access.ts'
import { AnswerExtra, ConversationId, ItemId } from '@agent-server/schemas/conversation.ts'
import { listOf } from '@agent-server/wire'
import { z } from 'zod'
import { InputItem, InputItemsQuery, isForeign } from '../responses/schema.ts'

// Shapes of the Conversations protocol: https://github.com/openai/openai-openapi.

const MAX_TITLE = 200
const MAX_ITEMS_AT_ONCE = 20

const Metadata = z
  .record(z.string().max(64), boundedText(512))
  .refine((metadata) => Object.keys(metadata).length <= 16, {
    message: 'must have at most 16 fields',
  })
  .meta({ maxProperties: 16 })
const Title = filledText(MAX_TITLE)

const Items = z
  .array(InputItem)
  .max(MAX_ITEMS_AT_ONCE)
  .superRefine((items, context) => {
    for (const [place, item] of items.entries()) {
      if (!isForeign(item)) continue
      const message = `is ${item.type}, of which nothing would be kept: leave the item out`
      context.addIssue({ code: 'custom', path: [place, 'type'], message })
    }
  })

export const NewConversation = z
  .object({
    items: Items.nullish().describe('The first items, as in `/v1/conversations/{id}/items`.'),
    metadata: Metadata.nullish().describe('Up to 16 fields of your own.'),
    title: Title.nullish().describe(
      'Extension of the protocol. Default: made from the first question.',
    ),
  })
  .meta({ id: 'CreateConversation', examples: [{ metadata: { topic: 'library' } }] })

export const ConversationPatch = z
  .object({
    metadata: Metadata.nullish().describe('Replaces all metadata.'),
    title: Title.nullish().describe('Extension of the protocol: the new title.'),
    last_item_id: ItemId.nullish().describe(
      'Extension of the protocol: the last item of the branch to continue with.',
    ),
    access: Access.optional().describe(
      'Extension of the protocol: the people who may read it by its id, as `user:<id>` or `group:<id>`, until the list changes. Of documents that they may not read themselves, they see no words beside the answers.',
    ),
    expected: z
      .strictObject({ access: Access.optional().describe('The list as you read it.') })
      .optional()
      .describe(
        'Extension of the protocol: if somebody has changed this list meanwhile, nothing is saved and the response is 409 `edit_conflict`.',
      ),
  })
  .meta({ id: 'ConversationPatch', examples: [{ metadata: { topic: 'library' } }] })

export const Conversation = z
  .object({
    id: z.string().describe('Identifier of the conversation.'),
    object: z.literal('conversation'),
    created_at: z.int().describe('When it was created, in seconds since 1970.'),
    metadata: z.record(z.string(), z.string()).describe('Fields of your own.'),
    title: z
      .string()
      .nullable()
      .describe('Extension of the protocol: the title; null until the first question.'),
    updated_at: z
      .int()
      .describe('When an item was last added or completed, in seconds since 1970.'),
    last_item_id: z
      .string()
      .nullable()
      .describe('The last item of the current branch, with which lists of items end.'),
    access: Access.optional().describe(
      'Extension of the protocol: who may read it besides its owner, who alone is told.',
    ),
    shared: z
      .literal(true)
      .optional()
      .describe('Extension of the protocol: it belongs to somebody else, and can only be read.'),
  })
  .meta({ id: 'Conversation' })

export const ConversationDeleted = z
  .object({
    id: z.string().describe('Identifier of the conversation.'),
    object: z.literal('conversation.deleted'),
    deleted: z.literal(true),
  })
  .meta({ id: 'ConversationDeleted' })

export const ConversationItem = z
  .looseObject({
    id: z.string().describe('Identifier of the item.'),
    type: z
      .string()
      .describe(
        'Kind of the item, such as `message`; it has the fields of that kind, as in Responses.',
      ),
    status: z.string().optional().describe('State of the item, if its kind has one.'),
    parent_id: z
      .string()
      .nullable()
      .describe('Extension of the protocol: the item that it follows; null at the start.'),
    agent: AnswerExtra.partial()
      .optional()
      .describe('What led to an answer of `/chat`, and how it ended.'),
  })
  .meta({ id: 'ConversationItem' })

export const ConversationItemList = listOf(ConversationItem).meta({ id: 'ConversationItemList' })
export const ConversationList = listOf(Conversation).meta({ id: 'ConversationList' })

export const NewConversationItems = z
  .object({
    items: Items.min(1).describe(
      'The items to add, as the input of Responses. Items of tools that the server does not have are refused.',
    ),
  })
  .meta({
    id: 'CreateConversationItems',
    examples: [{ items: [{ role: 'user', content: 'When does the library open?' }] }],
  })

export const ConversationParams = z.object({ id: ConversationId })
export const ConversationItemParams = z.object({ id: ConversationId, item: ItemId })

export const ConversationListQuery = z.object({
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(100)
    .default(20)
    .describe('Maximum number of conversations.'),
  after: z.string().max(64).optional().describe('The last conversation of the previous page.'),
  search: z
    .string()
    .max(200)
    .optional()
    .describe(
      'Only conversations with this text in the title, a question or an answer; case is ignored.',
    ),
  shared: Flag.default(false).describe(
    'Extension of the protocol: list those that other people share with you instead of your own.',
  ),
})

export const ConversationItemsQuery = InputItemsQuery.extend({
  branches: Flag.default(false).describe(
    'Extension of the protocol: list the items of all branches, in the order in which they were added.',
  ),
})

export const AnswerEventsQuery = z.object({
  includeSteps: Flag.default(false).describe(
    'Whether to also stream tool calls, tool results, reasoning and progress.',
  ),
})

export type NewConversation = z.output<typeof NewConversation>
export type ConversationPatch = z.output<typeof ConversationPatch>
export type Conversation = z.output<typeof Conversation>
export type ConversationItem = z.output<typeof ConversationItem>
export type ConversationItemList = z.output<typeof ConversationItemList>
export type ConversationItemsQuery = z.output<typeof ConversationItemsQuery>
export type ConversationList = z.output<typeof ConversationList>
export type ConversationListQuery = z.output<typeof ConversationListQuery>
