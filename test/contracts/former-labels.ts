import { everything } from '@agent-server/lib/visibility.ts'
import type { DocumentStore } from '@agent-server/stores'
import { expect } from 'vitest'

/** Documents as they were stored when collection and conversation were fields of the metadata. */
export const formerDocuments = (schema = '') => [
  `INSERT INTO ${schema}documents (id, metadata, status, served_revision, characters, created_at, updated_at) VALUES
    ('red', '{"year":1,"collection":"red","~conversation":"conv_1"}', 'pending', 1, 1, 1, 1),
    ('odd', '{"collection":5}', 'ready', 1, 1, 1, 1),
    ('default', '{"collection":"default","city":"Rome"}', 'ready', 1, 1, 1, 1),
    ('plain', NULL, 'ready', 1, 1, 1, 1)`,
  `INSERT INTO ${schema}metadata (document, name, kind, number, string)
    SELECT number, 'collection', 'string', NULL, id FROM ${schema}documents WHERE id IN ('red', 'default')`,
  `INSERT INTO ${schema}metadata (document, name, kind, number, string)
    SELECT number, '~conversation', 'string', NULL, 'conv_1' FROM ${schema}documents WHERE id = 'red'`,
  `INSERT INTO ${schema}replacements (document, metadata, characters)
    SELECT number, '{"collection":"blue","~conversation":"conv_1"}', 1 FROM ${schema}documents WHERE id = 'red'`,
]

/** Checks that they are now as if they had been added today. */
export async function expectPresentLabels(store: DocumentStore): Promise<void> {
  const labelsOf = async (id: string) => {
    const { collection, conversation, metadata } = (await store.get(everything(), id)) ?? {}
    return { collection, conversation, metadata }
  }
  const none = { collection: undefined, conversation: undefined, metadata: undefined }
  const red = { collection: 'red', conversation: 'conv_1', metadata: { year: 1 } }
  expect(await labelsOf('red')).toEqual(red)
  expect(await labelsOf('odd')).toEqual({ ...none, metadata: { collection: 5 } })
  expect(await labelsOf('default')).toEqual({ ...none, metadata: { city: 'Rome' } })
  expect(await labelsOf('plain')).toEqual(none)
  const taken = (eq: string) =>
    store.countListed(everything(), { filter: { field: 'collection', eq } })
  expect([await taken('red'), await taken('default')]).toEqual([1, 0])
}
