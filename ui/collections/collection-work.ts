import type { Collection } from '../../packages/client/src/agent-server.ts'
import { client } from '../api.ts'
import { doToAll } from '../documents/bulk-work.ts'
import { may } from '../session.ts'
import { chosenCollection } from './collections.ts'

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

/** Moves all documents, for the same people; returns what could not be moved, in words. Throws what the server says. */
export async function renameCollection(collection: Collection, to: string): Promise<string> {
  const { name, access = [], contributors = [], owners = [] } = collection
  if (isShared(collection) && to !== DEFAULT) {
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
