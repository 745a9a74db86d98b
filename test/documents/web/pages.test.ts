import { AppError } from '@agent-server/lib/errors.ts'
import { MASTER } from '@agent-server/schemas/operator/api-key.ts'
import { expect, it } from 'vitest'
import { createPages } from '../../../src/documents/web/pages.ts'

const { signal } = new AbortController()

const answerOf = (url: string) =>
  Object.defineProperty(new Response('Words'), 'url', { value: url })

it('A page that is refused says why, also where the store cannot forget its file', async () => {
  const away = () => Promise.reject(new AppError('store_unavailable', 'Away'))
  const full = () => Promise.reject(new AppError('queue_full', 'Full'))
  const { forCaller } = createPages({
    store: {
      get: away,
      put: away,
      takeSources: away,
      noteSource: away,
      dropStaged: away,
      stageFile: async (pieces) => ({ number: 1, size: (await Array.fromAsync(pieces)).length }),
    },
    fetchPage: () => ({ get: (url, _headers, read) => read(answerOf(url)) }),
    wake: () => undefined,
    log: { warn: () => undefined },
  })
  const documents = { create: full, put: full, find: full, get: full, idToChange: full }
  const pages = forCaller(documents, MASTER)
  const page = { url: 'https://example.org/a.txt' }
  await expect(pages.create(page, undefined, signal)).rejects.toMatchObject({ code: 'queue_full' })
})
