import type { ErrorDetail } from './contract.ts'
import { type AgentServerError, ServerError, toError } from './errors.ts'

/** Of a refusal that is read; a proxy may answer with any page. */
const MAX_REFUSAL_BYTES = 65_536

/** By it the server's log names a request. */
export function requestIdOf({ headers }: Response): string | undefined {
  return headers.get('x-request-id') ?? undefined
}

/** The body of an answer; undefined where it is empty. Throws `ServerError` where it is no JSON. */
export function parseAnswer<Data>(text: string, response: Response): Data {
  try {
    const data: Data = text === '' ? undefined : JSON.parse(text)
    return data
  } catch (cause) {
    const { status } = response
    const message = 'The answer is no JSON: this may be no Agent Server, but something in its place'
    throw new ServerError(message, { status, requestId: requestIdOf(response), cause })
  }
}

const MIN_SECRET = 8

/** The error that an answer is; whoever answers may repeat what was sent, so the key is taken out. */
export async function refusalOf(
  response: Response,
  apiKey: string | null,
): Promise<AgentServerError> {
  const text = await readStart(response)
  // What is shorter is no key of a server, and may be part of any word.
  const isSecret = apiKey !== null && apiKey.length >= MIN_SECRET
  const detail = detailOf(isSecret ? text.replaceAll(apiKey, '[key]') : text)
  return toError(detail, {
    status: response.status,
    requestId: requestIdOf(response),
    retryAfter: retryAfterOf(response),
  })
}

function detailOf(text: string): Partial<ErrorDetail> {
  try {
    const { error } = Object(JSON.parse(text))
    return typeof error === 'object' && error !== null ? error : {}
  } catch {
    return {}
  }
}

/** Seconds, which a proxy may also give as a date. */
function retryAfterOf({ headers }: Response): number | undefined {
  const value = headers.get('retry-after')
  if (value === null) return undefined
  const seconds = Number(value)
  if (Number.isFinite(seconds)) return Math.max(seconds, 0)
  const date = Date.parse(value)
  return Number.isNaN(date) ? undefined : Math.max((date - Date.now()) / 1_000, 0)
}

async function readStart({ body }: Response): Promise<string> {
  if (!body) return ''
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  while (text.length < MAX_REFUSAL_BYTES) {
    const { value, done } = await reader.read()
    if (done) return text + decoder.decode()
    text += decoder.decode(value, { stream: true })
  }
  await reader.cancel()
  return text
}
