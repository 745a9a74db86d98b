import type { Document, DocumentPatch } from '../../packages/client/src/agent-server.ts'
import { client } from '../api.ts'
import { collections } from '../collections/collections.ts'
import { may } from '../session.ts'

export type MetadataValue = string | number | boolean

/** Whether the reader may change it: they alone are told of who added it and of its own access. */
export function mayChange({ creator, access, metadata }: Document): boolean {
  if (may('admin') || creator !== undefined || access !== undefined) return true
  const collection = metadata?.collection ?? 'default'
  return (
    collections.value?.some(({ name, role }) => name === collection && role === 'owner') ?? false
  )
}

/** What a typed value is stored as. What was a text stays one, whatever it looks like. */
export function typedValue(typed: string, before?: MetadataValue): MetadataValue {
  if (typeof before === 'string') return typed
  const word = typed.trim()
  if (word === 'true' || word === 'false') return word === 'true'
  return word !== '' && Number.isFinite(Number(word)) ? Number(word) : typed
}

/** Changes only what is named, and nothing if it is no longer as in `seen`: see `isEditConflict`. */
export async function saveFacts(
  seen: Document,
  change: Pick<DocumentPatch, 'title' | 'metadata'>,
): Promise<Document> {
  const { title, metadata } = change
  if (title === undefined && !metadata) return seen
  const before = Object.keys(metadata ?? {}).map((name) => [name, seen.metadata?.[name] ?? null])
  const expected = {
    ...(title !== undefined && { title: seen.title ?? '' }),
    ...(metadata && { metadata: Object.fromEntries(before) }),
  }
  return client.documents.patch(seen.id, { ...change, expected })
}
