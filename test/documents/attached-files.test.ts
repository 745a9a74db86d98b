import { AppError } from '@agent-server/lib/errors.ts'
import type { Document } from '@agent-server/schemas/document.ts'
import { MASTER } from '@agent-server/schemas/operator/api-key.ts'
import { expect, it } from 'vitest'
import { createAttachedFiles } from '../../src/documents/attached-files.ts'

const { signal } = new AbortController()
const DOCUMENT: Document = {
  id: 'doc',
  status: 'ready',
  revision: 1,
  characters: 5,
  chunks: 1,
  attempts: 1,
  createdAt: '2026-01-01T00:00:00Z',
  updatedAt: '2026-01-01T00:00:00Z',
}

/** Reads the document `doc`, of fake documents that `get` gives. */
const readWith = (get: () => Promise<Document>) =>
  createAttachedFiles({
    extractor: { extract: () => Promise.reject(new Error('is not asked for')) },
    corpusFor: () => ({
      documents: {
        get,
        awaitCompletion: async (created) => created,
        text: async () => ({
          title: undefined,
          url: undefined,
          revision: 1,
          isWhole: true,
          text: 'Geese',
          length: 5,
        }),
      },
    }),
  })([{ field: 'input.0.file_id', documentId: 'doc' }], MASTER, signal)

it('A document without a title is called by its id alone', async () => {
  expect(await readWith(async () => DOCUMENT)).toEqual([{ name: 'doc', text: 'Geese' }])
})

it.each([
  ['that is not there', 'document_not_found', 'invalid_request'],
  ['that has no text yet', 'document_not_ready', 'invalid_request'],
  ['while the store is down', 'store_unavailable', 'store_unavailable'],
  ['after its caller’s key was revoked', 'unauthorized', 'unauthorized'],
] as const)('A document %s is the failure that it is: %s', async (_case, code, expected) => {
  const reading = readWith(() => Promise.reject(new AppError(code, 'It failed')))
  await expect(reading).rejects.toMatchObject({ code: expected })
})
