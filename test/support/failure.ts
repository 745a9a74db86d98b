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

export interface Failure {
  status: number
  message: string
  type: string
  code: string
  param: string | null
  requestId: string
  headers: Headers
}

/** The failure that an answer tells; throws where it does not tell it in the one envelope, as JSON. */
export async function failureOf(response: Response): Promise<Failure> {
  const text = await response.text()
  const media = response.headers.get('content-type')
  if (!/^application\/json(;|$)/.test(media ?? '')) throw new Error(`Not JSON: ${media} ${text}`)
  const { request_id: requestId, ...error } = Envelope.parse(JSON.parse(text)).error
  return { status: response.status, ...error, requestId, headers: response.headers }
}
