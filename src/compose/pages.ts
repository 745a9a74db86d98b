import type { FastifyBaseLogger } from 'fastify'
import type { Config } from '../config.ts'
import { createGuardedFetch } from '../lib/outbound/guarded-fetch.ts'
import { createOutboundPolicy } from '../lib/outbound/policy.ts'
import type { Documents } from '../services/ingestion/documents.ts'
import { createFetchPage, FetchError, type FetchPage } from '../services/web/fetch-page.ts'
import { createPages } from '../services/web/pages.ts'
import type { DocumentStore } from '../stores/document-store.ts'

/** For one answer, redirects and `robots.txt` aside. */
const FETCH_MS = 120_000
const SILENCE_MS = 20_000

interface Parts {
  config: Pick<Config, 'FETCH_URLS' | 'FETCH_IGNORE_ROBOTS' | 'FILE_LIMIT' | 'OUTBOUND_ALLOW'>
  store: DocumentStore
  documents: Documents
  wake: () => void
  log: FastifyBaseLogger
}

/** Documents of the web, as far as the server may fetch them. */
export function composePages({ config, ...parts }: Parts) {
  const outbound = createGuardedFetch(createOutboundPolicy(config.OUTBOUND_ALLOW ?? []), {
    ...{ maximumBytes: config.FILE_LIMIT, idleMs: SILENCE_MS, totalMs: FETCH_MS },
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
