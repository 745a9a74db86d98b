import { describe, expect, it } from 'vitest'
import { hasDescription } from '../../../test/support/qdrant/description.ts'
import { startFakeQdrant } from '../../../test/support/qdrant/fake-qdrant.ts'
import { qdrantIndexAt } from './qdrant-index.ts'

describe.skipIf(!hasDescription)(
  'The fake Qdrant by the description (needs ../shared/qdrant)',
  () => {
    it.each([
      ['a body that Qdrant would refuse', '/points/query', { query: 'words', limit: 'many' }],
      ['a query parameter that it does not know', '/points/query?patience=3', { limit: 1 }],
    ])('notes %s', async (_case, path, body) => {
      const fake = await startFakeQdrant()
      await qdrantIndexAt(fake.url).open()
      expect(fake.mistakes).toEqual([])
      const response = await fetch(`${fake.url}/collections/test-terms${path}`, {
        method: 'POST',
        body: JSON.stringify(body),
      })
      expect(response.status).toBe(400)
      expect(fake.mistakes).toEqual([expect.stringContaining('asked:')])
    })
  },
)
