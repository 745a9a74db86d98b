import type { FastifyBaseLogger } from 'fastify'
import type { Config } from '../config.ts'
import { createGuardedFetch, refusalOf } from '../lib/outbound/guarded-fetch.ts'
import { createOutboundPolicy } from '../lib/outbound/policy.ts'
import type { Documents } from '../services/ingestion/documents.ts'
import { createFetchPage, FetchError, type FetchPage } from '../services/web/fetch-page.ts'
import { createPages } from '../services/web/pages.ts'
import { createWebhooks, type Webhooks } from '../services/webhooks/webhooks.ts'
import type { DocumentStore } from '../stores/document-store.ts'
import type { Outbox } from '../stores/outbox.ts'

/** Time for one response, not counting redirects and `robots.txt`. */
const FETCH_MS = 120_000
const SILENCE_MS = 20_000

interface Parts {
  config: Pick<Config, 'FETCH_URLS' | 'FETCH_IGNORE_ROBOTS' | 'FILE_LIMIT' | 'OUTBOUND_ALLOW'>
  store: DocumentStore
  documents: Documents
  wake: () => void
  log: FastifyBaseLogger
}

/** Documents from the web, as far as the server may fetch them. */
export function composePages({ config, ...parts }: Parts) {
  const outbound = createGuardedFetch(createOutboundPolicy(config.OUTBOUND_ALLOW ?? []), {
    ...{ maxBytes: config.FILE_LIMIT, idleMs: SILENCE_MS, totalMs: FETCH_MS },
  })
  const isOn = config.FETCH_URLS === 'on'
  const ignoredRobots = config.FETCH_IGNORE_ROBOTS ?? []
  const fetchPage = isOn ? createFetchPage({ fetch: outbound.fetch, ignoredRobots }) : NOTHING
  const pages = createPages({ ...parts, fetchPage })
  const closing = new AbortController()
  let running: Promise<void> | undefined
  return {
    pages,
    start() {
      if (isOn) running = pages.run(closing.signal)
    },
    async close() {
      closing.abort(new Error('The server is being stopped'))
      await running
      await outbound.close()
    },
  }
}

const NOTHING: FetchPage = {
  async get() {
    const message = 'This server fetches no documents from web addresses: FETCH_URLS is off'
    throw new FetchError('fetch_not_allowed', message)
  },
}

/** Of a webhook's response, only the status is used. */
const MAX_ANSWER_BYTES = 64 * 1024
const ANSWER_MS = 20_000

/** Throws an Error if WEBHOOK_URL may not be called, whatever its host name resolves to. */
export function checkWebhookUrl({ WEBHOOK_URL: url, OUTBOUND_ALLOW: allow = [] }: Config): void {
  const refusal = url === undefined ? undefined : refusalOf(url, createOutboundPolicy(allow))
  if (refusal) throw new Error(`WEBHOOK_URL: ${refusal.message}`)
}

/** Opens the sender of webhooks; without WEBHOOK_URL nothing is sent. */
export function openWebhooks(
  { WEBHOOK_URL: url, WEBHOOK_SECRET: secret, OUTBOUND_ALLOW: allow = [] }: Config,
  outbox: Outbox,
  log: FastifyBaseLogger,
): Webhooks {
  if (url === undefined || secret === undefined) {
    const nothing = async () => undefined
    return { start: () => outbox.enable(false), wake: () => undefined, stop: nothing }
  }
  const guarded = createGuardedFetch(createOutboundPolicy(allow), {
    maxBytes: MAX_ANSWER_BYTES,
    idleMs: ANSWER_MS,
    totalMs: ANSWER_MS,
  })
  const webhooks = createWebhooks({ outbox, fetch: guarded.fetch, url, secret, log })
  return {
    ...webhooks,
    async stop() {
      await webhooks.stop()
      await guarded.close()
    },
  }
}
