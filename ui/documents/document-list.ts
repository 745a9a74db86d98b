import { signal } from '@preact/signals'
import type { Document, DocumentStatus } from '../../client/src/agent-server.ts'
import { client, messageOf } from '../api.ts'

const PAGE_SIZE = 100
/** Documents in work that are asked for one by one, because they are not on the first page. */
const MAX_SINGLE = 10

export const STATUSES = ['ready', 'pending', 'processing', 'failed'] as const

/** The documents as far as they were scrolled to, newest first. */
export function createDocumentList() {
  const items = signal<readonly Document[]>([])
  const status = signal<DocumentStatus | undefined>(undefined)
  /** What is to stand in the title. */
  const title = signal('')
  const failure = signal('')
  /** Undefined before the first answer; then whether there are more than these. */
  const hasMore = signal<boolean | undefined>(undefined)
  let cursor: string | undefined
  let isLoading = false
  /** Grows with each change of the filter: late answers to another one are dropped. */
  let generation = 0

  const readPage = (at?: string) => pageOf(status.value, title.value, at)
  const loadMore = async () => {
    if (isLoading || hasMore.value === false) return
    isLoading = true
    const asked = generation
    try {
      const page = await readPage(cursor)
      if (asked === generation) {
        const known = new Set(items.value.map(({ id }) => id))
        items.value = [...items.value, ...page.items.filter(({ id }) => !known.has(id))]
        cursor = page.nextCursor
        hasMore.value = cursor !== undefined
        failure.value = ''
      }
    } catch (error) {
      if (asked === generation) failure.value = messageOf(error)
    }
    isLoading = false
    if (asked !== generation) await loadMore()
  }

  const filterBy = async (wanted: DocumentStatus | undefined, words = title.value) => {
    generation += 1
    status.value = wanted
    title.value = words
    items.value = []
    cursor = undefined
    hasMore.value = undefined
    await loadMore()
  }

  /** New documents and new states, without losing the place. */
  const refresh = async () => {
    if (hasMore.value === undefined) return loadMore()
    const asked = generation
    try {
      const first = await readPage()
      const onFirst = new Set(first.items.map(({ id }) => id))
      const others = items.value.filter(({ id }) => !onFirst.has(id))
      const changed = await readUnsettled(others)
      if (asked !== generation) return
      // What is gone from the first page was deleted, or has another status now.
      const oldest = first.items.at(-1)?.createdAt ?? ''
      const isWhole = first.nextCursor === undefined
      const rest = others.filter(({ createdAt }) => !isWhole && createdAt <= oldest)
      items.value = [...first.items, ...rest.map((one) => changed.get(one.id) ?? one)]
      failure.value = ''
    } catch (error) {
      failure.value = messageOf(error)
    }
  }

  const drop = (id: string) => {
    items.value = items.value.filter((one) => one.id !== id)
  }

  return { items, status, title, failure, hasMore, loadMore, filterBy, refresh, drop }
}

export type DocumentListing = ReturnType<typeof createDocumentList>

function pageOf(status: DocumentStatus | undefined, title: string, at?: string) {
  const selection = { status, title: title.trim() || undefined }
  return client.documents.list({ ...selection, limit: PAGE_SIZE }).page(at)
}

async function readUnsettled(documents: readonly Document[]): Promise<Map<string, Document>> {
  const unsettled = documents.filter(isUnsettled).slice(0, MAX_SINGLE)
  const read = await Promise.all(
    unsettled.map(({ id }) => client.documents.get(id).catch(() => undefined)),
  )
  return new Map(read.flatMap((one) => (one ? [[one.id, one]] : [])))
}

export function isUnsettled({ status }: Pick<Document, 'status'>): boolean {
  return status === 'pending' || status === 'processing'
}
