import { ERRORS } from '@agent-server/lib/errors.ts'
import { z } from 'zod'

/** By name, so that clients have a type of it. */
const Code = z.enum(Object.keys(ERRORS)).meta({
  id: 'ErrorCode',
  description: 'Stable error code, listed in docs/reference/errors.md.',
})

export const ErrorDetail = z
  .object({
    message: z.string().describe('What went wrong and how to fix it.'),
    type: z
      .enum([...new Set(Object.values(ERRORS).map(({ type }) => type))])
      .describe('The category of the error.'),
    code: Code,
    param: z.string().nullable().describe('Dotted path of the invalid field, or null.'),
    request_id: z
      .string()
      .describe('Identifies the request; also in the `x-request-id` header and the log.'),
  })
  .meta({ id: 'ErrorDetail', description: 'What went wrong, for people and for programs.' })

export const ErrorBody = z.object({ error: ErrorDetail }).meta({
  id: 'Error',
  description: 'The response body of every failed request.',
})

export type ErrorDetail = z.output<typeof ErrorDetail>
export type ErrorBody = z.output<typeof ErrorBody>

const DESCRIPTION_BY_STATUS: Record<number, string> = {
  400: 'The request is invalid; `param` names the field.',
  401: 'The key is missing, invalid, revoked or expired.',
  403: 'The key or the origin does not permit this request.',
  404: 'The requested resource does not exist.',
  405: 'The method is not supported; see the `Allow` header.',
  408: 'The request did not arrive in time.',
  409: 'The request conflicts with the current state.',
  413: 'The body is larger than BODY_LIMIT.',
  415: 'The body is not of a supported media type.',
  416: 'The requested range is outside the text.',
  429: 'Too many requests; retry after `Retry-After` seconds.',
  500: 'An internal error; the log has the cause under the request id.',
  502: 'The chat model or the fetched site returned an error.',
  503: 'The server is not ready, or part of it does not work; retry later, after `Retry-After` seconds if given.',
  504: 'The chat model did not respond in time.',
  507: 'The disk is full.',
}

/** The error responses of a route: those that any route can give, and `more` of its own. */
export function errorResponses(...more: number[]) {
  return errorResponsesIn({ schema: ErrorBody }, more)
}

/** Like `errorResponses`, in the shape of another protocol. */
export function errorResponsesIn({ schema }: { schema: z.ZodType }, more: readonly number[]) {
  const any = [400, 401, 403, 408, 413, 415, 429, 500, 503]
  const statuses = [...new Set([...any, ...more])].sort((a, b) => a - b)
  return Object.fromEntries(
    statuses.map((status) => [
      status,
      {
        description: DESCRIPTION_BY_STATUS[status] ?? 'An error.',
        content: { 'application/json': { schema } },
      },
    ]),
  )
}

/** An example of a failure with this status: the first error with it in the table; undefined if there is none. */
export function errorExample(status: number): ErrorBody | undefined {
  const entry = Object.entries(ERRORS).find(([, error]) => error.status === status)
  if (!entry) return undefined
  const [code, { type }] = entry
  return {
    error: {
      message: status === 400 ? 'query: must not be empty' : (DESCRIPTION_BY_STATUS[status] ?? ''),
      type,
      code,
      param: status === 400 ? 'query' : null,
      request_id: '0198c5f2-8f2e-7c1b-9d58-0c9f5f0f4a11',
    },
  }
}
