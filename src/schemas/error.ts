import { z } from 'zod'
import { ERRORS } from '../errors.ts'

const CODES = Object.keys(ERRORS)

export const ErrorDetail = z
  .object({
    message: z.string().describe('What went wrong and what can be done about it.'),
    type: z
      .enum([...new Set(Object.values(ERRORS).map(({ type }) => type))])
      .describe('The family of the error.'),
    code: z.enum(CODES).describe('Stable name of the error; see the table in docs/errors.md.'),
    param: z.string().nullable().describe('The field at fault as a dotted path, or null.'),
    request_id: z.string().describe('Also in the `x-request-id` header and in the log.'),
  })
  .meta({ id: 'ErrorDetail' })

export const ErrorBody = z.object({ error: ErrorDetail }).meta({
  id: 'Error',
  description: 'The one shape that every failed request answers with.',
})

export type ErrorDetail = z.output<typeof ErrorDetail>
export type ErrorBody = z.output<typeof ErrorBody>

const DESCRIPTION_BY_STATUS: Record<number, string> = {
  400: 'The request is malformed; `param` names the field.',
  401: 'The key is missing, wrong, revoked or expired.',
  403: 'Not with this key, or not from here.',
  404: 'There is no such thing.',
  405: 'Not with this method: `Allow` names those that there are.',
  408: 'The request did not arrive in time.',
  409: 'What is stored already does not allow this.',
  413: 'The body is larger than BODY_LIMIT.',
  415: 'The body is not of a supported media type.',
  416: 'There are no such bytes.',
  429: 'Too much at once; try again after `Retry-After` seconds.',
  500: 'A fault of the server; the log has the cause under the request id.',
  502: 'The chat model, or the site that a page is fetched from, answered with an error.',
  503: 'Not ready, or a part does not work; try again, where given after `Retry-After` seconds.',
  504: 'The chat model did not answer in time.',
  507: 'The disk is full.',
}

/** The error responses of a route: those that any route can give, and `more` of its own. */
export function errorResponses(...more: number[]) {
  const any = [400, 401, 403, 408, 413, 415, 429, 500, 503]
  const statuses = [...new Set([...any, ...more])].sort((a, b) => a - b)
  return Object.fromEntries(
    statuses.map((status) => [
      status,
      {
        description: DESCRIPTION_BY_STATUS[status] ?? 'An error.',
        content: { 'application/json': { schema: ErrorBody } },
      },
    ]),
  )
}

/** An example of a failure with this status: the first error with it in the table. */
export function errorExample(status: number): ErrorBody {
  const [code = 'internal', { type } = ERRORS.internal] =
    Object.entries(ERRORS).find(([, error]) => error.status === status) ?? []
  return {
    error: {
      message: status === 400 ? 'query: must not be empty' : (DESCRIPTION_BY_STATUS[status] ?? ''),
      ...{ type, code, param: status === 400 ? 'query' : null },
      request_id: '0198c5f2-8f2e-7c1b-9d58-0c9f5f0f4a11',
    },
  }
}
