import type { Collection } from '../../packages/client/src/agent-server.ts'
import { client } from '../api.ts'
import { doToAll } from '../documents/bulk-work.ts'
import { may } from '../session.ts'
import { chosenCollection, collections } from './collections.ts'

export const DEFAULT = 'default'

/** Whether the reader may change and delete it with all of its documents. */
export const mayManage = ({ role }: Collection): boolean => role === 'owner' || may('admin')

/** Whether people share it, so that it stays when its documents are gone; the default one always does. */
const isShared = ({ name, createdAt }: Collection): boolean =>
  createdAt !== undefined && name !== DEFAULT

/** How many documents would be deleted with it, those included that are not found yet. */
export async function countDoomed({ name }: Collection): Promise<number> {
  return (await client.documents.deleteAll({ collection: name, dryRun: true })).matched
}

/** Throws what the server says, which is also that there are other documents than `confirm` of them by now. */
export async function deleteCollection(collection: Collection, confirm: number): Promise<void> {
  const { name } = collection
  if (confirm > 0) await client.documents.deleteAll({ collection: name, confirm })
  if (isShared(collection)) await client.documents.deleteCollection(name)
}

/** Whether both are for the same people, as after a move that was broken off. */
function haveSameLists(one: Collection, other: Collection): boolean {
  const lists = ['access', 'contributors', 'owners'] as const
  return lists.every((list) => isSameSet(one[list] ?? [], other[list] ?? []))
}

const isSameSet = (some: readonly string[], others: readonly string[]) =>
  some.every((each) => others.includes(each)) && others.every((each) => some.includes(each))

/**
 * Moves all documents, into a new collection for the same people if this one is shared; returns what could not be
 * moved, in words. Can be repeated after that. Throws what the server says.
 */
export async function renameCollection(collection: Collection, to: string): Promise<string> {
  const { name, access = [], contributors = [], owners = [] } = collection
  const existing = collections.value?.find((each) => each.name === to)
  const isBegun =
    existing !== undefined && mayManage(existing) && haveSameLists(collection, existing)
  if (isShared(collection) && to !== DEFAULT && !isBegun) {
    await client.documents.createCollection({ name: to, access, contributors, owners })
  }
  const members = await Array.fromAsync(client.documents.list({ collection: name }))
  const metadata = { collection: to === DEFAULT ? null : to }
  const failure = await doToAll('Moving', members, ({ id }, signal) =>
    client.documents.patch(id, { metadata }, { signal }),
  )
  if (failure === '' && isShared(collection)) await client.documents.deleteCollection(name)
  if (failure === '' && chosenCollection.value === name) chosenCollection.value = to
  return failure
}
