import { ERRORS } from '@agent-server/lib/errors.ts'
import { z } from 'zod'

/** The envelope by the letter: these five fields and no other. */
const Envelope = z.strictObject({
  error: z.strictObject({
    message: z.string().min(1),
    type: z.string(),
    code: z.string(),
    param: z.string().nullable(),
    request_id: z.string().min(1),
  }),
})

/** The same in Ollama's protocol. */
const OllamaEnvelope = z
  .strictObject({
    error: z.string().min(1),
    code: z.enum(Object.keys(ERRORS)),
    param: z.string().nullable(),
    request_id: z.string().min(1),
  })
  .transform(({ error: message, code, ...more }) => ({
    error: {
      message,
      type: Object.entries(ERRORS).find(([name]) => name === code)?.[1].type ?? '',
      code,
      ...more,
    },
  }))

/** The same in Anthropic's protocol. */
const MessagesEnvelope = z
  .strictObject({
    type: z.literal('error'),
    error: Envelope.shape.error.omit({ request_id: true }),
    request_id: z.string().min(1),
  })
  .transform(({ error, request_id }) => ({ error: { ...error, request_id } }))

/** The same with what oikb shows. */
const OikbEnvelope = Envelope.extend({ detail: z.string().min(1) })

/** The same in MCP's protocol. */
const RpcEnvelope = z
  .strictObject({
    jsonrpc: z.literal('2.0'),
    error: z.strictObject({
      code: z.int(),
      message: z.string().min(1),
      data: Envelope.shape.error,
    }),
    id: z.null(),
  })
  .transform(({ error }) => ({ error: error.data }))

export interface Failure {
  status: number
  message: string
  type: string
  code: string
  param: string | null
  requestId: string
  headers: Headers
}

/** The failure that an answer tells; throws where it does not tell it in an envelope of the server, as JSON. */
export async function failureOf(response: Response): Promise<Failure> {
  const text = await response.text()
  const media = response.headers.get('content-type')
  if (!/^application\/json(;|$)/.test(media ?? '')) throw new Error(`Not JSON: ${media} ${text}`)
  const { request_id: requestId, ...error } = z
    .union([Envelope, OllamaEnvelope, MessagesEnvelope, OikbEnvelope, RpcEnvelope])
    .parse(JSON.parse(text)).error
  return { status: response.status, ...error, requestId, headers: response.headers }
}
