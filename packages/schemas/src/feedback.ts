import { boundedText, optional } from '@agent-server/lib/fields.ts'
import { z } from 'zod'
import { RATINGS } from './bounds.ts'
import { ConversationId, ItemId } from './conversation.ts'

const MAX_COMMENT = 2_000

const Rating = z
  .enum(RATINGS)
  .meta({ id: 'Rating', description: 'Whether the answer was good (`up`) or bad (`down`).' })
const AnswerId = ItemId.describe(
  'The answer: an item of the conversation (`answerId` in the frame `turn-start` of `/chat`) or, without a conversation, a stored response.',
)

export const NewFeedback = z
  .object({
    conversationId: optional(ConversationId).describe('The conversation that the answer is in.'),
    answerId: AnswerId,
    rating: Rating,
    comment: optional(boundedText(MAX_COMMENT)).describe('What was good or bad.'),
  })
  .meta({
    id: 'CreateFeedback',
    examples: [
      {
        conversationId: 'conv_5f2b7c1e9a404d1c8a52b6e0c7d3f918',
        answerId: 'msg_0b9c2d4e6f8a41c3b5d7e9f1a3c5e7d9',
        rating: 'down',
        comment: 'The hours are those of last year.',
      },
    ],
  })

export const Feedback = z
  .object({
    id: z.string().describe('Identifier of the feedback.'),
    conversationId: z.string().optional().describe('The conversation that the answer is in.'),
    answerId: z.string().describe('The rated answer.'),
    rating: Rating,
    comment: z.string().optional().describe('What was good or bad.'),
    question: z.string().optional().describe('The question; absent if it was deleted.'),
    answer: z.string().describe('The answer as it is stored now.'),
    documentIds: z.array(z.string()).describe('The documents that the answer cites.'),
    createdAt: z.iso.datetime().describe('When the answer was first rated.'),
    updatedAt: z.iso.datetime().describe('When the rating or the comment was last changed.'),
  })
  .meta({ id: 'Feedback' })

export const FeedbackList = z
  .object({
    feedback: z.array(Feedback).describe('The feedback, newest first.'),
    nextCursor: z
      .string()
      .optional()
      .describe('Send as `cursor` to get the next page; absent on the last page.'),
  })
  .meta({ id: 'FeedbackList' })

export const FeedbackExportQuery = z.object({
  rating: Rating.optional(),
  conversationId: ConversationId.optional().describe('Only on answers of this conversation.'),
})

export const FeedbackListQuery = FeedbackExportQuery.extend({
  limit: z.coerce.number().int().min(1).max(100).default(20).describe('Maximum number of results.'),
  cursor: z.string().min(1).max(200).optional().describe('The `nextCursor` of the previous page.'),
})

export const FeedbackParams = z.object({
  id: z.string().min(1).max(64).describe('Identifier of the feedback.'),
})

export type NewFeedback = z.output<typeof NewFeedback>
export type Feedback = z.output<typeof Feedback>
export type FeedbackList = z.output<typeof FeedbackList>
export type FeedbackListQuery = z.output<typeof FeedbackListQuery>
export type FeedbackExportQuery = z.output<typeof FeedbackExportQuery>
