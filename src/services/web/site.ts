import { createHash } from 'node:crypto'
import { AppError } from '../../errors.ts'
import type { Document, DocumentCreated } from '../../schemas/document.ts'
import type { SiteInput, SiteLine } from '../../schemas/document-batch.ts'
import type { Page } from '../../schemas/new-document.ts'
import type { Documents } from '../ingestion/documents.ts'
import type { FetchPage } from './fetch-page.ts'
import { readSitemap } from './sitemap.ts'

/** Pages of a site that are fetched at the same time. */
const PAGES = 3

interface Dependencies {
  fetchPage: FetchPage
  documents: Pick<Documents, 'get'>
  pages: {
    put(id: string, page: Page, signal: AbortSignal): Promise<DocumentCreated>
    refresh(id: string, signal: AbortSignal): Promise<Document>
  }
}

/** See `Pages.addSite`. */
export async function* addSite(
  { url: sitemap, limit, ...facts }: SiteInput,
  { fetchPage, documents, pages }: Dependencies,
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

  for (let first = 0; first < site.pages.length; first += PAGES) {
    signal.throwIfAborted()
    const urls = site.pages.slice(first, first + PAGES)
    yield await Promise.all(urls.map((url, place) => addPage(url, first + place + 1)))
  }
}

/** The same for the same page of a collection, so that a site can be added again. */
function idOf(url: string, collection = ''): string {
  return `web_${createHash('sha256').update(`${collection}\n${url}`).digest('hex').slice(0, 32)}`
}
