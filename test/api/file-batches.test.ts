import { ApiKeyCreated } from '@agent-server/schemas/operator/api-key.ts'
import OpenAI, { toFile } from 'openai'
import { describe, expect, it } from 'vitest'
import { startServer, TEST_KEY } from '../support/server.ts'

const server = await startServer()
const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: TEST_KEY, maxRetries: 0 })
const stores = client.vectorStores

const ingest = (...titles: string[]) =>
  Promise.all(titles.map((title) => server.ingest({ title, text: `${title} sing.` })))
const QUICKLY = { pollIntervalMs: 20 }

describe('A batch of files', () => {
  it('is uploaded and polled by the helper of the package', async () => {
    const files = await Promise.all(
      ['owls', 'herons', 'storks'].map((bird) =>
        toFile(Buffer.from(`${bird} fly.`), `${bird}.txt`),
      ),
    )
    const [known = ''] = await ingest('Terns')
    const upload = { files, fileIds: [known] }
    const batch = await stores.fileBatches.uploadAndPoll('vs_birds', upload, QUICKLY)
    expect(batch).toMatchObject({
      object: 'vector_store.files_batch',
      vector_store_id: 'vs_birds',
      status: 'completed',
      file_counts: { in_progress: 0, completed: 4, failed: 0, cancelled: 0, total: 4 },
    })
    const found = await stores.search('vs_birds', { query: 'Who flies? herons' })
    expect(found.data.map(({ filename }) => filename)).toContain('herons.txt')
  })

  it('gives all its files the same attributes, or each its own', async () => {
    const ids = await ingest('Coots', 'Grebes')
    const [first = '', second = ''] = ids
    const yearsOf = () =>
      Promise.all(
        ids.map(async (id) => {
          const file = await stores.files.retrieve(id, { vector_store_id: 'vs_lake' })
          return file.attributes?.year
        }),
      )
    const attributes = { year: 2024 }
    await stores.fileBatches.createAndPoll('vs_lake', { file_ids: ids, attributes }, QUICKLY)
    expect(await yearsOf()).toEqual([2024, 2024])
    const files = [{ file_id: first, attributes: { year: 2025 } }, { file_id: second }]
    await stores.fileBatches.createAndPoll('vs_lake', { files }, QUICKLY)
    expect(await yearsOf()).toEqual([2025, 2024])
  })

  it('lists its files page by page, and tells of those that have left the store', async () => {
    const ids = await ingest('Gulls', 'Swans', 'Ducks')
    const { id } = await stores.fileBatches.create('vs_sea', { file_ids: ids })
    const list = async (more: Partial<OpenAI.VectorStores.FileBatchListFilesParams>) =>
      (
        await Array.fromAsync(
          stores.fileBatches.listFiles(id, { vector_store_id: 'vs_sea', ...more }),
        )
      ).map((file) => file.id)
    expect(await list({ limit: 1, order: 'asc' })).toEqual(ids)
    expect(await list({ limit: 2 })).toEqual(ids.toReversed())
    expect(await list({ filter: 'failed' })).toEqual([])
    await expect(list({ after: 'unknown' })).rejects.toMatchObject({ status: 400, param: 'after' })

    const [gulls = '', swans = ''] = ids
    await stores.files.delete(gulls, { vector_store_id: 'vs_sea' })
    await server.request(`/documents/${swans}`, { method: 'DELETE' })
    expect(await stores.fileBatches.retrieve(id, { vector_store_id: 'vs_sea' })).toMatchObject({
      status: 'cancelled',
      file_counts: { completed: 1, cancelled: 2, total: 3 },
    })
    expect(await list({})).toEqual(ids.slice(2))
  })

  it('of as many files as it may have is known by its id', async () => {
    const texts = Array.from({ length: 200 }, (_, number) => ({ text: `Bird ${number} sings.` }))
    const made = await server.request('/documents/batch', { body: texts })
    const { results }: { results: { id: string }[] } = Object(await made.json())
    const file_ids = results.map(({ id }) => id)
    const batch = await stores.fileBatches.createAndPoll('vs_many', { file_ids }, QUICKLY)
    expect(batch).toMatchObject({ status: 'completed', file_counts: { completed: 200 } })
  })

  it('with a document that there is not puts none into the store', async () => {
    const [known = ''] = await ingest('Larks')
    const file_ids = [known, 'unknown']
    await expect(stores.fileBatches.create('vs_air', { file_ids })).rejects.toMatchObject({
      status: 404,
      code: 'document_not_found',
    })
    expect((await stores.retrieve('vs_air')).file_counts.total).toBe(0)
  })

  it('is known to the key that created it, in its store, and to no other', async () => {
    const file_ids = await ingest('Finches')
    const { id } = await stores.fileBatches.create('vs_air', { file_ids })
    const elsewhere = stores.fileBatches.retrieve(id, { vector_store_id: 'vs_sea' })
    await expect(elsewhere).rejects.toMatchObject({ status: 404, code: 'batch_not_found' })

    const made = await server.request('/admin/keys', {
      body: { name: 'reader', scopes: ['query'] },
    })
    const { secret } = ApiKeyCreated.parse(await made.json())
    const other = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: secret, maxRetries: 0 })
    const foreign = other.vectorStores.fileBatches.retrieve(id, { vector_store_id: 'vs_air' })
    await expect(foreign).rejects.toMatchObject({ status: 404, code: 'batch_not_found' })
  })

  it.each([
    ['', {}, 'file_ids'],
    ['', { file_ids: [] }, 'file_ids'],
    ['', { file_ids: ['a'], files: [{ file_id: 'b' }] }, 'file_ids'],
    ['', { file_ids: ['a', 'a'] }, 'file_ids'],
    ['', { files: [{ file_id: 'a' }, { file_id: 'a' }] }, 'files'],
    ['', { files: [{ file_id: 'a' }], attributes: { year: 1 } }, 'attributes'],
    ['', { file_ids: Array.from({ length: 201 }, (_, n) => `d${n}`) }, 'file_ids'],
    ['', { file_ids: ['a'], chunking_strategy: { type: 'static' } }, 'chunking_strategy.type'],
    ['/vsfb_other/cancel', {}, 'batch'],
    ['/other/cancel', {}, 'batch'],
  ])('file_batches%s refuses %j by name', async (path, body, param) => {
    const response = await server.request(`/v1/vector_stores/vs_air/file_batches${path}`, { body })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: { param } })
  })
})
