import { hash } from 'node:crypto'
import { pause } from '@agent-server/lib/abort.ts'
import { backoffMs } from '@agent-server/lib/backoff.ts'
import { batched } from '@agent-server/lib/batches.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import { ignore } from '@agent-server/lib/ignore.ts'
import type { Log } from '@agent-server/lib/log.ts'
import { createGuardedFetch } from '@agent-server/lib/outbound/guarded-fetch.ts'
import { createOutboundPolicy } from '@agent-server/lib/outbound/policy.ts'
import { everything, type Visibility } from '@agent-server/lib/visibility.ts'
import type { Document, DocumentCreated } from '@agent-server/schemas/document.ts'
import type { SiteInput, SiteLine } from '@agent-server/schemas/document-batch.ts'
import { refusal } from '@agent-server/schemas/invalid-request.ts'
import type { Page } from '@agent-server/schemas/new-document.ts'
import { intervalMs } from '@agent-server/schemas/new-document.ts'
import { shareOf } from '@agent-server/schemas/operator/api-key.ts'
import { forChanges, type Reader } from '@agent-server/schemas/visibility.ts'
import {
  type DocumentStore,
  discard,
  documentNotFound,
  isDocumentGone,
  type StoredSource,
} from '@agent-server/stores'
import type { Content } from '../collections.ts'
import { digestOf, type OwnDocuments } from '../ingestion/documents.ts'
import { afterAbout, createFetchContent } from './fetch-content.ts'
import { createFetchPage, FetchError, type FetchPage } from './fetch-page.ts'
import { readSitemap } from './sitemap.ts'

/** Documents that one server refreshes concurrently. */
const MAX_REFRESHES = 4
/** Pages of a site that are fetched concurrently. */
const MAX_PAGES = 3
const POLL_MS = 15_000
/** The lease on a due document: longer than a fetch may take, including its wait for a turn. */
const TAKEN_MS = 900_000
/** The delay after a failure; never longer than the document's regular interval. */
const RETRY_BACKOFF = { firstMs: 60_000, maxMs: 86_400_000, factor: 4 }
const CHANGED = 'The document was changed while its page was fetched'

interface Dependencies {
  store: Pick<
    DocumentStore,
    'get' | 'put' | 'stageFile' | 'dropStaged' | 'takeSources' | 'noteSource'
  >
  /** For the API key that asks. */
  fetchPage: (sender?: string) => FetchPage
  /** Notifies ingestion that there is work. */
  wake: () => void
  log: Pick<Log, 'warn'>
}

interface WebSettings {
  isOn: boolean
  /** Hosts whose `robots.txt` is not asked. */
  ignoredRobots: readonly string[]
  /** Private addresses that may be called. */
  allow: readonly string[]
  maxBytes: number
}

/** Time for one response, not counting redirects and `robots.txt`. */
const FETCH_MS = 120_000
const SILENCE_MS = 20_000

/** Documents from the web, as far as the server may fetch them, and the loop that refreshes them. */
export function openPages(
  { isOn, ignoredRobots, allow, maxBytes }: WebSettings,
  parts: Omit<Dependencies, 'fetchPage'>,
) {
  const outbound = createGuardedFetch(createOutboundPolicy(allow), {
    maxBytes,
    idleMs: SILENCE_MS,
    totalMs: FETCH_MS,
  })
  const fetchPage = isOn ? createFetchPage({ fetch: outbound.fetch, ignoredRobots }) : () => NOTHING
  const pages = createPages({ ...parts, fetchPage })
  return {
    pages,
    /** Until `signal` is aborted. Never throws. */
    run: async (signal: AbortSignal) => (isOn ? pages.run(signal) : undefined),
    close: outbound.close,
  }
}

const NOTHING: FetchPage = {
  async get() {
    const message = 'This server does not fetch documents from URLs: FETCH_URLS is off'
    throw new FetchError('fetch_not_allowed', message)
  },
}

export type Pages = ReturnType<typeof createPagesOf>

type IntoDocuments = Pick<OwnDocuments, 'create' | 'put' | 'find' | 'get' | 'idToChange'>

/** Documents that are fetched from the web. */
export function createPages({ fetchPage, ...parts }: Dependencies) {
  return {
    /** What a caller does with them, with its view of the documents and within the same limits. */
    forCaller(documents: IntoDocuments, caller: Reader): Pages {
      const ownParts = { ...parts, fetchPage: fetchPage(shareOf(caller)) }
      const refresh = createRefresh(ownParts, forChanges(caller))
      return createPagesOf({ ...ownParts, documents, refresh })
    },
    /** Fetches due documents again until `signal` is aborted, each on one server only. */
    run(signal: AbortSignal) {
      const refresh = createRefresh({ ...parts, fetchPage: fetchPage(undefined) }, everything())
      return runDue(parts, refresh, signal)
    },
  }
}

interface Fetching extends Omit<Dependencies, 'fetchPage'> {
  fetchPage: FetchPage
}

type Refresh = (id: string, signal: AbortSignal) => Promise<void>

/** Fetches a document again, and ingests it if it has changed. */
function createRefresh({ store, fetchPage, wake }: Fetching, visibility: Visibility): Refresh {
  const fetchContent = createFetchContent(store, fetchPage)
  return async (id, signal) => {
    const document = await store.get(visibility, id)
    if (!document) throw documentNotFound(id)
    const { source, revision, collection, metadata } = document
    if (!source) throw refusal('id', 'was not fetched from a URL: send its content again')
    try {
      const { file, ...facts } = await fetchContent(source, signal)
      if (!file) return await store.noteSource(id, revision, facts.source)
      const content = { id, text: '', file, collection, metadata, ...facts }
      const before = { revision, collection, metadata }
      await store.put(visibility, content, before).catch(async (error: unknown) => {
        await discard(store, file.number)
        throw isDocumentGone(error) ? new AppError('edit_conflict', CHANGED) : error
      })
      wake()
    } catch (error) {
      if (error instanceof FetchError) await store.noteSource(id, revision, failed(source, error))
      throw error
    }
  }
}

interface PagesOf extends Fetching {
  documents: IntoDocuments
  refresh: Refresh
}

function createPagesOf({ store, documents, fetchPage, refresh: refreshDue }: PagesOf) {
  const fetchContent = createFetchContent(store, fetchPage)

  /** Throws like `fetchContent`; if `keep` throws, the staged file is dropped. */
  const add = async (
    { refresh, ...page }: Page,
    keep: (content: Content) => Promise<DocumentCreated>,
    signal: AbortSignal,
  ) => {
    const { url, title } = page
    const { file, ...facts } = await fetchContent({ url, title, refresh }, signal)
    if (!file) throw new FetchError('fetch_failed', 'The response was an unexpected 304')
    return keep({ ...page, text: '', file, ...facts }).catch(async (error: unknown) => {
      await discard(store, file.number)
      throw error
    })
  }

  const pages = {
    /** Like `Documents.create`, for a web address. Throws `FetchError`; nothing is stored then. */
    create(page: Page, idempotencyKey: string | undefined, signal: AbortSignal) {
      const digest = digestOf(['web', page.url, page.refresh ?? ''], page)
      return add(page, (content) => documents.create(content, idempotencyKey, digest), signal)
    },

    /** Like `Documents.put`, for the content of a web address. Throws `FetchError`. */
    put: (id: string, page: Page, signal: AbortSignal) =>
      add(page, (content) => documents.put(id, content), signal),

    /**
     * Fetches a document again, and ingests it if it has changed. Throws `document_not_found`, and `FetchError`, which
     * it also stores with the document.
     */
    async refresh(idOrOwnId: string, signal: AbortSignal): Promise<Document> {
      const id = await documents.idToChange(idOrOwnId)
      await refreshDue(id, signal)
      return documents.get(id)
    },
  }

  return {
    ...pages,
    /**
     * Makes a document of each page in a sitemap, with an id derived from its address, or fetches it again; yields
     * results as they are done. Errors of reading the sitemap are thrown, like those of `refresh`.
     */
    addSite: (site: SiteInput, signal: AbortSignal) =>
      addSite(site, { fetchPage, documents, pages }, signal),
  }
}

async function runDue(
  { store, log }: Omit<Dependencies, 'fetchPage'>,
  refresh: Refresh,
  signal: AbortSignal,
) {
  const refreshDue = (id: string) =>
    refresh(id, signal).catch((error: unknown) => {
      if (!signal.aborted) log.warn({ err: error, documentId: id }, 'refreshing a page failed')
    })
  while (!signal.aborted) {
    const ids = await store.takeSources(MAX_REFRESHES, TAKEN_MS).catch((error: unknown) => {
      log.warn({ err: error }, 'the document store does not respond; refreshing pages is postponed')
      return []
    })
    await Promise.all(ids.map(refreshDue))
    if (ids.length < MAX_REFRESHES) await ignore(pause(POLL_MS, signal), 'only the signal ends it')
  }
}

/** A missing page is still fetched at its regular interval, because pages come back. */
function failed(
  source: StoredSource,
  { message, responseStatus, waitMs = 0 }: FetchError,
): StoredSource {
  const failures = source.failures + 1
  const isGone = responseStatus === 404 || responseStatus === 410
  const due = (usual: number) => {
    const soon = isGone ? usual : Math.min(usual, backoffMs(failures, RETRY_BACKOFF))
    return afterAbout(Math.max(soon, Math.min(waitMs, RETRY_BACKOFF.maxMs)))
  }
  return {
    ...source,
    status: responseStatus,
    error: message,
    failures,
    fetchedAt: Date.now(),
    dueAt: source.refresh === undefined ? undefined : due(intervalMs(source.refresh)),
  }
}

interface PagesOfSite {
  put(id: string, page: Page, signal: AbortSignal): Promise<DocumentCreated>
  refresh(id: string, signal: AbortSignal): Promise<Document>
}

/** See `Pages.addSite`. */
async function* addSite(
  { url: sitemap, limit, ...facts }: SiteInput,
  {
    fetchPage,
    documents,
    pages,
  }: Pick<PagesOf, 'fetchPage' | 'documents'> & { pages: PagesOfSite },
  signal: AbortSignal,
): AsyncGenerator<SiteLine[]> {
  const site = await readSitemap(fetchPage, sitemap, limit, signal)
  yield [{ pages: site.pages.length, left: site.left }]

  const addPage = async (url: string, page: number): Promise<SiteLine> => {
    const pageId = idOf(url, facts.collection)
    try {
      const existing = await documents.find(pageId)
      const isScheduled = existing?.source && existing.source.refresh === facts.refresh
      if (!isScheduled) {
        const { id, status } = await pages.put(pageId, { ...facts, url }, signal)
        return { page, url, id, status, unchanged: false }
      }
      const { id, status, revision } = await pages.refresh(pageId, signal)
      return { page, url, id, status, unchanged: revision === existing.revision }
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      return { page, url, error: { code: error.code, message: error.message } }
    }
  }

  for (const batch of batched(site.pages.entries(), MAX_PAGES)) {
    signal.throwIfAborted()
    yield await Promise.all(batch.map(([place, url]) => addPage(url, place + 1)))
  }
}

/** Always the same for the same page and collection, so that a site can be added again. */
function idOf(url: string, collection = ''): string {
  return `web_${hash('sha256', `${collection}\n${url}`).slice(0, 32)}`
}
