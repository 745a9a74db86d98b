import { retryAfterOf } from '@agent-server/lib/backoff.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import { createLimiter, type Owner, TooManyWaiting } from '@agent-server/lib/limiter.ts'
import {
  type GuardedFetch,
  OutboundError,
  type OutboundRequest,
} from '@agent-server/lib/outbound/guarded-fetch.ts'
import { createRobots, PRODUCT } from './robots.ts'

const MAX_REDIRECTS = 5
/** Pages fetched concurrently, and requests that may wait for their turn; of both, half for one API key. */
const MAX_FETCHES = 16
const MAX_WAITING = 128
const RETRY_SECONDS = 10
export const NOT_MODIFIED = 304

/** Why a page could not be fetched, in words that may be shown to clients. */
export class FetchError extends AppError {
  /** The HTTP status of the response, if there was one. */
  readonly responseStatus: number | undefined
  /** How long the site asks to wait (`Retry-After`). */
  readonly waitMs: number | undefined

  constructor(
    code: 'fetch_failed' | 'fetch_not_allowed',
    message: string,
    details: { status?: number; waitMs?: number | undefined; cause?: unknown } = {},
  ) {
    super(code, message, { param: 'url', cause: details.cause })
    this.responseStatus = details.status
    this.waitMs = details.waitMs
  }
}

interface Dependencies {
  fetch: GuardedFetch['fetch']
  /** Hosts whose robots.txt is ignored. */
  ignoredRobots: readonly string[]
}

export type FetchPage = ReturnType<ReturnType<typeof createFetchPage>>

/** Fetches pages and files from the web that sites allow programs to fetch. Senders (API keys) take turns. */
export function createFetchPage({ fetch, ignoredRobots }: Dependencies) {
  const robots = createRobots({ fetch, ignored: ignoredRobots })
  const turns = createLimiter({
    name: 'web pages',
    capacity: MAX_FETCHES,
    maxWaiting: MAX_WAITING,
  })

  const follow = async (
    start: string,
    headers: OutboundRequest['headers'],
    signal: AbortSignal,
  ) => {
    let url = parse(start)
    for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
      if (!(await robots.allows(url, signal))) {
        const message = `${url.host} does not allow ${PRODUCT} to fetch this URL: see its robots.txt`
        throw new FetchError('fetch_not_allowed', message)
      }
      const response = await fetch(url, { headers, redirect: 'manual', signal })
      const location = response.headers.get('location')
      if (response.status < 300 || response.status >= 400 || location === null) return response
      await response.body?.cancel()
      url = parse(URL.parse(location, url)?.href ?? location)
    }
    throw new FetchError('fetch_failed', `${url.host} redirects more than ${MAX_REDIRECTS} times`)
  }

  return (sender: Owner) => ({
    /**
     * Calls `read` with the response, which is successful, or 304 if `headers` are conditional. Throws `FetchError`,
     * AppError `too_many_uploads`, what `read` throws, and the reason of `signal`.
     */
    async get<Result>(
      url: string,
      headers: Record<string, string>,
      read: (response: Response) => Promise<Result>,
      signal: AbortSignal,
    ): Promise<Result> {
      const work = async () => {
        const response = await follow(url, headers, signal)
        if (response.ok || response.status === NOT_MODIFIED) return read(response)
        await response.body?.cancel()
        throw refusalOf(response, url)
      }
      try {
        return await turns.run(sender, work, signal)
      } catch (error) {
        throw explain(error)
      }
    },
  })
}

function parse(url: string): URL {
  const parsed = URL.parse(url)
  if (parsed && /^https?:$/.test(parsed.protocol)) return parsed
  throw new FetchError('fetch_not_allowed', 'Only http:// and https:// URLs can be fetched')
}

function refusalOf({ status, headers }: Response, url: string): FetchError {
  const hint = status === 404 || status === 410 ? ': there is no such page' : ''
  const message = `${URL.parse(url)?.host} answered ${status}${hint}`
  const details = { status, waitMs: retryAfterOf(headers) }
  return new FetchError('fetch_failed', message, details)
}

function explain(error: unknown): unknown {
  if (error instanceof OutboundError) {
    const code = error.kind === 'forbidden' ? 'fetch_not_allowed' : 'fetch_failed'
    return new FetchError(code, error.message, { cause: error })
  }
  if (!(error instanceof TooManyWaiting)) return error
  return new AppError('too_many_uploads', 'Too many pages are being fetched at the same time', {
    retryAfter: RETRY_SECONDS,
  })
}
