import { z } from 'zod'
import { boundedText, optional } from '../../schemas/fields.ts'
import { RATINGS } from '../../stores/feedback-store.ts'
import { ConversationId, ItemId } from './schema.ts'

const MAX_COMMENT = 2_000

const Rating = z.enum(RATINGS).meta({ id: 'Rating' })
const AnswerId = ItemId.describe(
  'The answer: an item of the conversation (`answerId` in the frame `turn-start` of `/chat`) or, without a conversation, a stored response.',
)

export const NewFeedback = z
  .object({
    conversationId: optional(ConversationId).describe('The conversation that the answer is in.'),
    answerId: AnswerId,
    rating: Rating,
    comment: optional(boundedText(MAX_COMMENT)),
  })
  .meta({
    id: 'NewFeedback',
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
    id: z.string(),
    conversationId: z.string().optional(),
    answerId: z.string(),
    rating: Rating,
    comment: z.string().optional(),
    question: z.string().optional().describe('Absent if the question was deleted.'),
    answer: z.string().describe('What the conversation has now.'),
    documentIds: z.array(z.string()).describe('The documents that the answer cites.'),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .meta({ id: 'Feedback' })

export const FeedbackList = z
  .object({
    feedback: z.array(Feedback).describe('Newest first.'),
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

export const FeedbackParams = z.object({ id: z.string().min(1).max(64) })

export type NewFeedback = z.output<typeof NewFeedback>
export type Feedback = z.output<typeof Feedback>
export type FeedbackList = z.output<typeof FeedbackList>
export type FeedbackListQuery = z.output<typeof FeedbackListQuery>
export type FeedbackExportQuery = z.output<typeof FeedbackExportQuery>
