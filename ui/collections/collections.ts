import { signal } from '@preact/signals'
import type { Collection } from '../../packages/client/src/agent-server.ts'
import { client, messageOf } from '../api.ts'
import { onSignOut } from '../session.ts'

/** More than these are found by typing a part of the name. */
const MAX_OPTIONS = 100

/** The collections that the reader may see; undefined until they were read. */
export const collections = signal<readonly Collection[] | undefined>(undefined)
export const collectionsFailure = signal('')

/** What the chat answers from and Search searches; empty for all documents. */
export const chosenCollection = signal('')

onSignOut(() => {
  collections.value = undefined
  chosenCollection.value = ''
})

export async function refreshCollections(): Promise<void> {
  try {
    collections.value = await client.documents.collections()
    collectionsFailure.value = ''
  } catch (error) {
    collectionsFailure.value = messageOf(error)
  }
}

/** Whether there are too many for a menu. */
export const areMany = (listed: readonly Collection[]) => listed.length > MAX_OPTIONS

/** The names to choose among, that of the chosen one included; none where everything is in the default collection. */
export function namesToChoose(listed: readonly Collection[], chosen: string): string[] {
  const names = new Set(listed.map(({ name }) => name))
  if (chosen !== '') names.add(chosen)
  return names.size === 1 && names.has('default') && chosen === '' ? [] : [...names]
}
