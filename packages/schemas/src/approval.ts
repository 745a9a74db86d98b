import { freeObject, optional } from '@agent-server/lib/fields.ts'
import { z } from 'zod'

/** Calls that are approved in one request. */
const MAX_CALLS = 2_000
/** Answers to what MCP servers ask, in one request. */
const MAX_ANSWERS = 128

/** Resumes the same chat after it stopped for calls that wait for the client. */
export const Resume = z
  .object({
    state: z
      .string()
      .max(64)
      .describe(
        'The `state` received with the pending calls. It works once. Send it with the `messages` of the original request.',
      ),
    approved: z
      .array(z.string().max(256))
      .max(MAX_CALLS)
      .describe('The `callId` of each approved call; all others are refused.'),
    answers: optional(
      z
        .array(
          z.object({
            callId: z.string().max(256).describe('The `callId` of the approved call.'),
            id: z.string().max(256).describe('The `id` of the elicitation.'),
            content: freeObject().describe('Values for the fields of `requestedSchema`.'),
          }),
        )
        .max(MAX_ANSWERS),
    ).describe('One for each elicitation of the approved calls.'),
  })
  .meta({
    id: 'Resume',
    description: 'Continues a chat that stopped for calls that wait for the client.',
  })

const Elicitation = z
  .object({
    id: z.string().describe('Identifies the question within its call.'),
    message: z.string().describe('What the server asks, in its own words.'),
    requestedSchema: freeObject().describe(
      'JSON Schema of the answer: an object whose fields are strings, numbers, booleans, or choices among strings.',
    ),
  })
  .meta({ id: 'Elicitation' })

export const APPROVAL = {
  calls: z
    .array(
      z.object({
        callId: z.string().describe('Identifies the call; send it back in `resume`.'),
        tool: z.string().describe('Name of the tool.'),
        input: z.unknown().describe('Arguments of the call.'),
        elicitations: z
          .array(Elicitation)
          .optional()
          .describe(
            'What the tool’s MCP server asks before it goes on with this call. Approve the call and send `answers`, or leave it out of `approved` to decline.',
          ),
      }),
    )
    .describe(
      'The calls that wait. If they have no `elicitations`, no call of this round has been executed.',
    ),
  state: z.string().describe('Send this back in `resume`, once, within 24 hours.'),
}

/** Present in an answer only if calls wait for the client's approval. */
export const Approval = z.object(APPROVAL).meta({
  id: 'Approval',
  description:
    'Tool calls that wait for the client’s approval, or for answers to what an MCP server asks. Send the same request again with `resume`.',
})

export type Approval = z.output<typeof Approval>
export type Elicitation = z.output<typeof Elicitation>
export type Resume = z.output<typeof Resume>
