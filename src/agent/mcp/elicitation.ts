import { boundedText } from '@agent-server/lib/fields.ts'
import { Refusal } from '@agent-server/lib/refusal.ts'
import {
  CLIENT_CAPABILITIES_META_KEY,
  type Client,
  type InputRequiredResult,
} from '@modelcontextprotocol/client'
import { z } from 'zod'
import { type AnsweredCall, type Elicited, Form } from '../tools/elicitation.ts'

const MAX_ELICITATIONS = 8
const MAX_MESSAGE = 4_000
const MAX_STATE = 65_536

const Elicitations = z
  .record(
    z.string().max(256),
    z.object({
      method: z.literal('elicitation/create'),
      params: z.object({
        mode: z.literal('form').optional(),
        message: boundedText(MAX_MESSAGE),
        requestedSchema: Form,
      }),
    }),
  )
  .refine((all) => Object.keys(all).length <= MAX_ELICITATIONS)

/** The questions of a server before it continues a call. Throws `Refusal` if this client cannot answer them. */
export function readElicited({ inputRequests = {}, requestState }: InputRequiredResult): Elicited {
  const { data } = Elicitations.safeParse(inputRequests)
  if (!data || (requestState?.length ?? 0) > MAX_STATE) {
    throw new Refusal('The server asks for something other than a form of plain fields')
  }
  const elicitations = Object.entries(data).map(([id, { params }]) => {
    return { id, message: params.message, requestedSchema: params.requestedSchema }
  })
  return { elicitations, requestState }
}

/**
 * The elicitation capability sent with a call. Older servers do not get it: they ask on the connection, and their
 * question does not say which of the calls on it, and so which user, it belongs to.
 */
export function elicitationParams(client: Client, call: AnsweredCall | undefined) {
  if (client.getProtocolEra() !== 'modern') return {}
  return {
    _meta: { [CLIENT_CAPABILITIES_META_KEY]: { elicitation: { form: {} } } },
    ...(call && { inputResponses: call.answers, requestState: call.requestState }),
  }
}
