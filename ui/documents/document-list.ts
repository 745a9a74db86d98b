import { signal } from '@preact/signals'
import type { Document } from '../../packages/client/src/agent-server.ts'
import { client, messageOf } from '../api.ts'
import { onSignOut } from '../session.ts'
import { addressOf, readShown, type ShownDocuments, selectionOf } from './shown-documents.ts'

const PAGE_SIZE = 100
/** Documents in work that are asked for one by one, because they are not on the first page. */
const MAX_SINGLE = 10
/** What can be chosen at once. */
export const MAX_CHECKED = 10_000

/** The ids that are checked. */
function createChoice() {
  const checked = signal<ReadonlySet<string>>(new Set())
  const check = (ids: Iterable<string>, isChecked: boolean) => {
    const next = new Set(checked.value)
    for (const id of ids) {
      if (!isChecked) next.delete(id)
      else if (next.size < MAX_CHECKED) next.add(id)
    }
    checked.value = next
  }
  return { checked, check }
}

/** The documents as far as they were scrolled to. */
function createDocumentList(shown: ShownDocuments) {
  const items = signal<readonly Document[]>([])
  const failure = signal('')
  /** Undefined before the first answer; then whether there are more than these. */
  const hasMore = signal<boolean | undefined>(undefined)
  /** On all pages, when the first was read last. */
  const total = signal(0)
  const { checked, check } = createChoice()
  let cursor: string | undefined
  let isLoading = false

  const readPage = async (at?: string) => {
    const request = { ...selectionOf(shown), limit: PAGE_SIZE, total: at === undefined }
    const page = await client.documents.list(request).page(at)
    if (page.total !== undefined) total.value = page.total
    return page
  }

  const loadMore = async () => {
    if (isLoading || hasMore.value === false) return
    isLoading = true
    try {
      const page = await readPage(cursor)
      const known = new Set(items.value.map(({ id }) => id))
      items.value = [...items.value, ...page.items.filter(({ id }) => !known.has(id))]
      cursor = page.nextCursor
      hasMore.value = cursor !== undefined
      failure.value = ''
    } catch (error) {
      failure.value = messageOf(error)
    }
    isLoading = false
  }

  /** New documents and new states, without losing the place. */
  const refresh = async () => {
    if (hasMore.value === undefined) return loadMore()
    try {
      const first = await readPage()
      const onFirst = new Set(first.items.map(({ id }) => id))
      const others = items.value.filter(({ id }) => !onFirst.has(id))
      const changed = await readUnsettled(others)
      // A document missing from the first page was deleted, or has another status now; in another order it stays.
      const oldest = first.items.at(-1)?.createdAt ?? ''
      const isByAge = shown.sort === '-createdAt'
      const isWhole = first.nextCursor === undefined
      const rest = others.filter(({ createdAt }) => !isWhole && (!isByAge || createdAt <= oldest))
      items.value = [...first.items, ...rest.map((one) => changed.get(one.id) ?? one)]
      failure.value = ''
    } catch (error) {
      failure.value = messageOf(error)
    }
  }

  /** Checks every document that is shown, those included that nobody has scrolled to yet. */
  const checkAll = async () => {
    while (hasMore.value && items.value.length < MAX_CHECKED && failure.value === '') {
      await loadMore()
    }
    check(
      items.value.map(({ id }) => id),
      true,
    )
  }

  const drop = (id: string) => {
    if (items.value.some((one) => one.id === id)) total.value -= 1
    items.value = items.value.filter((one) => one.id !== id)
    check([id], false)
  }

  const update = (document: Document) => {
    items.value = items.value.map((one) => (one.id === document.id ? document : one))
  }

  return {
    shown,
    items,
    failure,
    hasMore,
    total,
    checked,
    /** How far it was scrolled when a document was opened. */
    place: 0,
    loadMore,
    refresh,
    check,
    checkAll,
    drop,
    update,
  }
}

export type DocumentListing = ReturnType<typeof createDocumentList>

let latest: DocumentListing | undefined
onSignOut(() => {
  latest = undefined
})

/** The list at an address: the one that was left there, if it was the last. */
export function documentListAt(query: string): DocumentListing {
  const shown = readShown(query)
  if (!latest || addressOf(latest.shown) !== addressOf(shown)) latest = createDocumentList(shown)
  return latest
}

/** Where the last list is. */
export const listAddress = () => addressOf(latest?.shown ?? readShown(''))

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
