import { hash } from 'node:crypto'
import { AppError } from '../../errors.ts'
import { pause } from '../../lib/abort.ts'
import { backoffMs } from '../../lib/backoff.ts'
import type { Document, DocumentCreated } from '../../schemas/document.ts'
import type { SiteInput, SiteLine } from '../../schemas/document-batch.ts'
import { refusal } from '../../schemas/invalid-request.ts'
import type { Page } from '../../schemas/new-document.ts'
import { intervalMs } from '../../schemas/new-document.ts'
import { type DocumentStore, documentNotFound } from '../../stores/document-store.ts'
import type { NewFile } from '../../stores/file-store.ts'
import type { StoredSource } from '../../stores/source-store.ts'
import { type Content, type Documents, digestOf } from '../ingestion/documents.ts'
import { afterAbout, createFetchContent } from './fetch-content.ts'
import { FetchError, type FetchPage } from './fetch-page.ts'
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
  documents: Pick<Documents, 'create' | 'put' | 'get'>
  fetchPage: FetchPage
  /** Notifies ingestion that there is work. */
  wake: () => void
  log: { warn(fields: object, message: string): void }
  pollMs?: number
}

export type Pages = Omit<ReturnType<typeof createPages>, 'into' | 'run'>

/** Documents that are fetched from the web. */
export function createPages(dependencies: Dependencies) {
  const { store, documents, fetchPage, wake } = dependencies
  const fetchContent = createFetchContent(store, fetchPage)

  /** Throws like `fetchContent`; if `keep` throws, the staged file is dropped. */
  const add = async (
    { refresh, ...page }: Page,
    keep: (content: Content) => Promise<DocumentCreated>,
    signal: AbortSignal,
  ) => {
    const { url, title } = page
    const { file, ...facts } = await fetchContent({ url, title, refresh }, signal)
    if (!file) throw new FetchError('fetch_failed', 'The answer was 304, which nobody asked for')
    return keep({ ...page, text: '', file, ...facts }).catch(async (error: unknown) => {
      await drop(store, file)
      throw error
    })
  }

  const refresh = async (id: string, signal: AbortSignal): Promise<void> => {
    const document = await store.get(id)
    if (!document) throw documentNotFound(id)
    const { source, revision, metadata } = document
    if (!source) throw refusal('id', 'was not fetched from a web address: send its content anew')
    try {
      const { file, ...facts } = await fetchContent(source, signal)
      if (!file) return await store.noteSource(id, revision, facts.source)
      const content = { id, text: '', file, metadata, ...facts }
      await store.put(content, undefined, { revision, metadata }).catch(async (error: unknown) => {
        await drop(store, file)
        const isGone = error instanceof AppError && error.code === 'document_not_found'
        throw isGone ? new AppError('changed_meanwhile', CHANGED) : error
      })
      wake()
    } catch (error) {
      if (error instanceof FetchError) await store.noteSource(id, revision, failed(source, error))
      throw error
    }
  }

  const pagesOf = (into: Dependencies['documents']) => ({
    /** Like `Documents.create`, for a web address. Throws `FetchError`; nothing is stored then. */
    create: (page: Page, idempotencyKey: string | undefined, signal: AbortSignal) => {
      const digest = digestOf(['web', page.url, page.refresh ?? ''], page)
      return add(page, (content) => into.create(content, idempotencyKey, digest), signal)
    },

    /** Like `Documents.put`, for the content of a web address. Throws `FetchError`. */
    put: (id: string, page: Page, signal: AbortSignal) =>
      add(page, (content) => into.put(id, content), signal),

    /**
     * Fetches a document again, and ingests it if it has changed. Throws `document_not_found`, and `FetchError`, which
     * it also stores with the document.
     */
    async refresh(id: string, signal: AbortSignal): Promise<Document> {
      await into.get(id)
      await refresh(id, signal)
      return into.get(id)
    },
  })

  const sitesOf = (into: Dependencies['documents']) => ({
    ...pagesOf(into),
    /**
     * Makes a document of each page in a sitemap, with an id derived from its address, or fetches it again; yields
     * results as they are done. Errors of reading the sitemap are thrown, like those of `refresh`.
     */
    addSite: (site: SiteInput, signal: AbortSignal) =>
      addSite(site, { fetchPage, documents: into, pages: pagesOf(into) }, signal),
  })

  return {
    ...sitesOf(documents),
    /** Returns the same operations on another view of the documents, within the same limits. */
    into: sitesOf,
    /** Fetches due documents again until `signal` is aborted, each on one server only. */
    run: (signal: AbortSignal) => runDue(dependencies, refresh, signal),
  }
}

/** Never throws: a file that cannot be dropped now is dropped at a later start. */
async function drop(store: Pick<DocumentStore, 'dropStaged'>, { number }: NewFile): Promise<void> {
  await store.dropStaged(number).catch(() => undefined)
}

async function runDue(
  { store, log, pollMs = POLL_MS }: Dependencies,
  refresh: (id: string, signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
) {
  const refreshDue = (id: string) =>
    refresh(id, signal).catch((error: unknown) => {
      if (!signal.aborted) log.warn({ err: error, documentId: id }, 'a page was not fetched again')
    })
  while (!signal.aborted) {
    const due = await store.takeSources(MAX_REFRESHES, TAKEN_MS).catch((error: unknown) => {
      log.warn({ err: error }, 'the document store does not answer; pages wait')
      return []
    })
    await Promise.all(due.map(refreshDue))
    if (due.length < MAX_REFRESHES) await pause(pollMs, signal).catch(() => undefined)
  }
}

/** A page that is gone is still fetched at its regular interval, because pages come back. */
function failed(source: StoredSource, { message, answered, waitMs = 0 }: FetchError): StoredSource {
  const failures = source.failures + 1
  const isGone = answered === 404 || answered === 410
  const due = (usual: number) => {
    const soon = isGone ? usual : Math.min(usual, backoffMs(failures, RETRY_BACKOFF))
    return afterAbout(Math.max(soon, Math.min(waitMs, RETRY_BACKOFF.maxMs)))
  }
  return {
    ...source,
    ...{ status: answered, error: message, failures, fetchedAt: Date.now() },
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
  }: Pick<Dependencies, 'fetchPage' | 'documents'> & { pages: PagesOfSite },
  signal: AbortSignal,
): AsyncGenerator<SiteLine[]> {
  const site = await readSitemap(fetchPage, sitemap, limit, signal)
  yield [{ pages: site.pages.length, left: site.left }]

  const addPage = async (url: string, page: number): Promise<SiteLine> => {
    const id = idOf(url, facts.collection)
    try {
      const known = await documents.get(id).catch(() => undefined)
      const isScheduled = known?.source && known.source.refresh === facts.refresh
      if (!isScheduled) {
        const { status } = await pages.put(id, { ...facts, url }, signal)
        return { page, url, id, status, unchanged: false }
      }
      const { status, revision } = await pages.refresh(id, signal)
      return { page, url, id, status, unchanged: revision === known.revision }
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      return { page, url, error: { code: error.code, message: error.message } }
    }
  }

  for (let first = 0; first < site.pages.length; first += MAX_PAGES) {
    signal.throwIfAborted()
    const urls = site.pages.slice(first, first + MAX_PAGES)
    yield await Promise.all(urls.map((url, place) => addPage(url, first + place + 1)))
  }
}

/** Always the same for the same page and collection, so that a site can be added again. */
function idOf(url: string, collection = ''): string {
  return `web_${hash('sha256', `${collection}\n${url}`).slice(0, 32)}`
}
