import { type Signal, signal } from '@preact/signals'
import type { Conversation } from '../../packages/client/src/agent-server.ts'
import { client, messageOf } from '../api.ts'
import { onSignOut, person } from '../session.ts'
import { tellTabs } from './other-tabs.ts'

const PAGE = 50

/** The conversations that were read of a list, the last changed first. */
export interface Listing {
  items: Signal<readonly Conversation[]>
  /** What the next page begins after; undefined if all were read. */
  nextPage: Signal<string | undefined>
  isShared: boolean
}

const listing = (isShared: boolean): Listing => ({
  items: signal<readonly Conversation[]>([]),
  nextPage: signal<string | undefined>(undefined),
  isShared,
})

export const ownConversations = listing(false)
/** The conversations that others share with the reader. */
export const sharedConversations = listing(true)
export const search = signal('')
export const listFailure = signal('')

onSignOut(() => {
  ownConversations.items.value = []
  sharedConversations.items.value = []
  search.value = ''
})

/** Reads the first pages again. */
export async function refreshList(): Promise<void> {
  await readPage(ownConversations)
  // Only people are shared with.
  if (person.value && listFailure.value === '') await readPage(sharedConversations)
}

export const readMore = (of: Listing) => readPage(of, of.nextPage.value)

async function readPage({ items, nextPage, isShared }: Listing, after?: string): Promise<void> {
  const text = search.value
  try {
    const query = { limit: PAGE, shared: isShared, search: text || undefined }
    const page = await client.conversations.list(query).page(after)
    if (text !== search.value) return
    items.value = after === undefined ? page.items : [...items.value, ...page.items]
    nextPage.value = page.nextCursor
    listFailure.value = ''
  } catch (error) {
    listFailure.value = messageOf(error)
  }
}

/** Throws what the server says. */
export async function renameConversation(id: string, title: string): Promise<void> {
  await client.conversations.update(id, { title })
  tellTabs(id)
  await refreshList()
}

/** Throws what the server says. */
export async function deleteConversation(id: string): Promise<void> {
  await client.conversations.delete(id)
  tellTabs(id)
  await refreshList()
}
