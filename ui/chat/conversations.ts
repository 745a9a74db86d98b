import { signal } from '@preact/signals'
import type { Conversation } from '../../packages/client/src/agent-server.ts'
import { client, messageOf } from '../api.ts'
import { onSignOut } from '../session.ts'
import { tellTabs } from './other-tabs.ts'

const PAGE = 50

/** The conversations that were read of the list, the last changed first. */
export const conversations = signal<readonly Conversation[]>([])
export const search = signal('')
export const listFailure = signal('')
/** What the next page begins after; undefined if all were read. */
export const nextPage = signal<string | undefined>(undefined)

onSignOut(() => {
  conversations.value = []
  search.value = ''
})

/** Reads the first page again. */
export const refreshList = () => readPage()

export const readMore = () => readPage(nextPage.value)

async function readPage(after?: string): Promise<void> {
  const text = search.value
  try {
    const list = client.conversations.list({ limit: PAGE, ...(text && { search: text }) })
    const { items, nextCursor } = await list.page(after)
    if (text !== search.value) return
    conversations.value = after === undefined ? items : [...conversations.value, ...items]
    nextPage.value = nextCursor
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
