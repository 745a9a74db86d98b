import { Embeddings, StoreFileContent } from '@agent-server/compat'
import { DocumentCreated } from '@agent-server/schemas/document.ts'
import { ApiKeyCreated } from '@agent-server/schemas/operator/api-key.ts'
import OpenAI, { NotFoundError, toFile } from 'openai'
import { describe, expect, it } from 'vitest'
import { onlyLong } from '../support/long.ts'
import { type ScriptedEmbedder, startScriptedEmbedder } from '../support/scripted-embedder.ts'
import { startServer, TEST_KEY, type TestServer } from '../support/server.ts'

const clientOf = ({ url }: TestServer) =>
  new OpenAI({ baseURL: `${url}/v1`, apiKey: TEST_KEY, maxRetries: 0 })

const server = await startServer()
await server.ingest({ title: 'Beavers', text: 'Beavers build dams.', metadata: { year: 2020 } })
const client = clientOf(server)

const search = async (store: string, more: Partial<OpenAI.VectorStoreSearchParams> = {}) =>
  (await client.vectorStores.search(store, { query: 'Who builds dams?', ...more })).data.map(
    ({ filename }) => filename,
  )

describe('A vector store', () => {
  it('is named, given a file by the helper of the package, polled and searched', async () => {
    const store = await client.vectorStores.create({ name: 'birds' })
    expect(store).toMatchObject({ id: 'vs_birds', file_counts: { total: 0 } })
    const file = await toFile(Buffer.from('Owls build no dams.'), 'owls.txt')
    const attached = await client.vectorStores.files.uploadAndPoll(store.id, file)
    expect(attached).toMatchObject({ status: 'completed', vector_store_id: 'vs_birds' })
    expect(await search(store.id)).toEqual(['owls.txt'])
    expect((await search('corpus')).toSorted()).toEqual(['Beavers', 'owls.txt'])
    const uploaded = await client.files.retrieve(attached.id)
    expect(uploaded).toMatchObject({ filename: 'owls.txt', bytes: 19, status: 'processed' })
    expect((await client.vectorStores.retrieve(store.id)).file_counts.completed).toBe(1)
    const stores = await client.vectorStores.list()
    expect(stores.data.map(({ id }) => id)).toEqual(['corpus', 'vs_birds'])

    await client.vectorStores.files.delete(attached.id, { vector_store_id: store.id })
    expect(await search(store.id)).toEqual([])
    expect(await search('corpus')).toContain('owls.txt')
    await client.files.delete(attached.id)
    await expect(client.files.retrieve(attached.id)).rejects.toBeInstanceOf(NotFoundError)
  })

  it('says when to ask again for a file in progress, where the package would wait for five seconds', async () => {
    const waiting = await startServer({}, { begin: false })
    const created = await waiting.request('/documents', { body: { text: 'Owls hunt.' } })
    const { id } = DocumentCreated.parse(await created.json())
    const { data, response } = await clientOf(waiting)
      .vectorStores.files.retrieve(id, { vector_store_id: 'corpus' })
      .withResponse()
    expect(data.status).toBe('in_progress')
    expect(response.headers.get('openai-poll-after-ms')).toBe('250')
  })

  it('takes attributes, filters, a number and a threshold', async () => {
    const id = await server.ingest({ title: 'Herons', text: 'Herons build no dams but nests.' })
    await client.vectorStores.files.create('vs_waders', { file_id: id, attributes: { year: 2024 } })
    const recent = { type: 'gt' as const, key: 'year', value: 2022 }
    expect(await search('corpus', { filters: recent })).toEqual(['Herons'])
    const both = {
      type: 'and' as const,
      filters: [recent, { ...recent, type: 'ne' as const, value: 2024 }],
    }
    expect(await search('corpus', { filters: both })).toEqual([])
    expect(await search('vs_waders')).toEqual(['Herons'])
    expect(await search('corpus', { max_num_results: 1 })).toHaveLength(1)
    const ranking_options = { score_threshold: 1 }
    expect(await search('corpus', { ranking_options, query: 'heron nests' })).toEqual(['Herons'])
    expect(await search('corpus', { ranking_options, query: 'quagga dams' })).toEqual([])
    const refused = search('corpus', { ranking_options: { score_threshold: 1_000 } })
    await expect(refused).rejects.toMatchObject({ param: 'ranking_options.score_threshold' })
  })

  it('gives the content of its files, and takes their attributes', async () => {
    const { files } = client.vectorStores
    const file = await toFile(Buffer.from('Swifts sleep in flight.'), 'swifts.txt')
    const { id } = await files.uploadAndPoll('vs_sky', file)
    const inStore = { vector_store_id: 'vs_sky' }
    const download = await client.files.content(id)
    expect(download.headers.get('content-disposition')).toContain('swifts.txt')
    expect(await download.text()).toBe('Swifts sleep in flight.')
    const sent = await server.ingest({ title: 'Larks', text: 'Larks sing.' })
    expect(await (await client.files.content(sent)).text()).toBe('Larks sing.')
    const { data } = await files.content(id, inStore)
    expect(data).toEqual([{ type: 'text', text: 'Swifts sleep in flight.' }])
    const changed = await files.update(id, { ...inStore, attributes: { year: 2026 } })
    expect(changed.attributes).toEqual({ collection: 'sky', year: 2026 })
    const elsewhere = { vector_store_id: 'vs_other' }
    await expect(files.content(id, elsewhere)).rejects.toMatchObject({ status: 400, param: 'id' })
    const update = files.update(id, { ...elsewhere, attributes: {} })
    await expect(update).rejects.toMatchObject({ status: 400, param: 'id' })
  })

  it('gives a long text in pages', onlyLong, async () => {
    const text = 'Long songs. '.repeat(90_000)
    const id = await server.ingest({ title: 'Songs', text })
    const path = `/v1/vector_stores/corpus/files/${id}/content`
    const read = async (page: string) =>
      StoreFileContent.parse(await (await server.request(path + page)).json())
    const first = await read('')
    expect(first).toMatchObject({ has_more: true, next_page: '1000000' })
    const last = await read(`?page=${first.next_page}`)
    expect(last).toMatchObject({ has_more: false, next_page: null })
    expect([first, last].flatMap(({ data }) => data.map((part) => part.text)).join('')).toBe(text)
    await client.files.delete(id)
  })

  it('keeps its id and its documents under a new name', async () => {
    const store = await client.vectorStores.create({ name: 'pond' })
    const id = await server.ingest({ title: 'Newts', text: 'Newts swim.', collection: 'pond' })
    const labelled = client.vectorStores.update(store.id, { name: 'x', metadata: { a: 'b' } })
    await expect(labelled).rejects.toMatchObject({ status: 400, param: 'metadata' })
    expect((await client.vectorStores.update(store.id, {})).file_counts.total).toBe(1)

    const renamed = await client.vectorStores.update(store.id, { name: 'Our lagoon' })
    expect(renamed).toMatchObject({
      id: 'vs_pond',
      name: 'Our lagoon',
      file_counts: { completed: 1, total: 1 },
    })
    expect(await client.vectorStores.retrieve(store.id)).toMatchObject({ name: 'Our lagoon' })
    expect(await search(store.id, { query: 'Who swims?' })).toEqual(['Newts'])
    const other = await client.vectorStores.create({ name: 'pond' })
    expect(other).toMatchObject({ name: 'pond', file_counts: { total: 0 } })
    expect(other.id).toMatch(/^vs_pond-[0-9a-f]{8}$/)

    const named = await client.vectorStores.update(store.id, { name: 'pond' })
    expect(named).toMatchObject({ id: 'vs_pond', name: 'pond' })
    const corpus = client.vectorStores.update('corpus', { name: 'all' })
    await expect(corpus).rejects.toMatchObject({ status: 400, param: 'store' })
    for (const each of [store, other]) await client.vectorStores.delete(each.id)
    await client.files.delete(id)
  })

  it.each([
    ['Märchen & Sagen', /^vs_Marchen-Sagen-[0-9a-f]{8}$/],
    ['昔話', /^vs_store-[0-9a-f]{8}$/],
    [undefined, /^vs_store-[0-9a-f]{8}$/],
  ])('named %j is a collection of its own', async (name, id) => {
    const store = await client.vectorStores.create(name === undefined ? {} : { name })
    expect(store.id).toMatch(id)
    expect(store.name).toBe(name ?? store.id.slice('vs_'.length))
    const listed = await Array.fromAsync(client.vectorStores.list())
    expect(listed).toContainEqual(expect.objectContaining({ id: store.id, name: store.name }))
    const file = await server.ingest({ title: 'Beasts', text: 'Beasts talk.' })
    await client.vectorStores.files.create(store.id, { file_id: file })
    expect(await search(store.id, { query: 'Who talks?' })).toEqual(['Beasts'])
    await client.vectorStores.delete(store.id)
    await client.files.delete(file)
  })

  it('is named by whoever may use its collection, and by nobody else', async () => {
    const made = await server.request('/admin/keys', {
      body: { name: 'shelf', scopes: ['query', 'ingest'], collections: ['shelf'] },
    })
    const { secret } = ApiKeyCreated.parse(await made.json())
    const limited = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: secret, maxRetries: 0 })
    await client.vectorStores.update('vs_attic', { name: 'Our attic' })
    const refused = [
      limited.vectorStores.update('vs_attic', { name: 'Mine' }),
      limited.vectorStores.delete('vs_attic'),
      limited.vectorStores.create({ name: 'A new one' }),
    ]
    for (const each of refused) {
      await expect(each).rejects.toMatchObject({ code: 'collection_not_allowed' })
    }
    expect((await limited.vectorStores.retrieve('vs_attic')).name).toBe('attic')
    const own = await limited.vectorStores.update('vs_shelf', { name: 'Top shelf' })
    expect(own).toMatchObject({ id: 'vs_shelf', name: 'Top shelf' })
    const listed = await Array.fromAsync(limited.vectorStores.list({ limit: 1 }))
    expect(listed.map(({ name }) => name)).toEqual(['corpus', 'Top shelf'])
    for (const id of ['vs_attic', 'vs_shelf']) await client.vectorStores.delete(id)
  })

  it('is deleted, and its documents stay', async () => {
    const ids: string[] = []
    for (const title of ['Rails', 'Cranes']) {
      ids.push(await server.ingest({ title, text: `${title} wade.`, collection: 'marsh' }))
    }
    expect(await client.vectorStores.delete('vs_marsh')).toEqual({
      id: 'vs_marsh',
      object: 'vector_store.deleted',
      deleted: true,
    })
    expect((await client.vectorStores.retrieve('vs_marsh')).file_counts.total).toBe(0)
    for (const id of ids) {
      expect(await client.files.retrieve(id)).toMatchObject({ id })
      await client.files.delete(id)
    }
  })

  it.each(['corpus', 'vs_default'])('%s cannot be deleted', async (id) => {
    const deleted = client.vectorStores.delete(id)
    await expect(deleted).rejects.toMatchObject({ status: 400, param: 'store' })
  })

  it('lists its files page by page, by age and by what became of them', async () => {
    const ids: string[] = []
    for (const title of ['Coots', 'Grebes', 'Terns']) {
      ids.push(await server.ingest({ title, text: `${title} swim.`, collection: 'lake' }))
    }
    const names = async (files: AsyncIterable<{ id: string }>) =>
      (await Array.fromAsync(files)).map(({ id }) => id)
    const { files } = client.vectorStores
    expect(await names(files.list('vs_lake', { limit: 1, order: 'asc' }))).toEqual(ids)
    expect(await names(files.list('vs_lake'))).toEqual(ids.toReversed())
    expect(await names(files.list('vs_lake', { filter: 'completed' }))).toHaveLength(3)
    expect(await names(files.list('vs_lake', { filter: 'in_progress' }))).toEqual([])
    const all = await names(client.files.list({ limit: 2, order: 'asc' }))
    expect(all.slice(-3)).toEqual(ids)
    expect((await names(client.files.list({ limit: 100 }))).toReversed()).toEqual(all)
    expect(await names(client.files.list({ purpose: 'batch' }))).toEqual([])
    await expect(names(client.files.list({ after: 'gone' }))).rejects.toBeInstanceOf(NotFoundError)
  })

  it.each([
    ['/v1/vector_stores/x/search', { query: 'a' }, 'store'],
    ['/v1/vector_stores', { name: 'a'.repeat(257) }, 'name'],
    ['/v1/vector_stores', { name: 'a', expires_after: {} }, 'expires_after'],
    ['/v1/vector_stores/corpus/search', { query: 'a', rewrite_query: true }, 'rewrite_query'],
    ['/v1/vector_stores/corpus/search', { query: 'a', filters: { type: 'eq' } }, 'filters.key'],
    ['/v1/embeddings', { input: 'a' }, 'model'],
    ['/v1/embeddings', { input: [1, 'a'] }, 'input'],
    ['/v1/embeddings', { input: [[]] }, 'input.0'],
    ['/v1/files', {}, null],
  ])('%s refuses %j', async (path, body, param) => {
    const response = await server.request(path, { body })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: { param } })
  })
})

describe('Embeddings', () => {
  it('are made by the model of the documents, as floats and as the package asks', async () => {
    const embedder: ScriptedEmbedder = await startScriptedEmbedder()
    const own = await startServer({
      EMBEDDING_MODEL: 'scripted',
      EMBEDDING_BASE_URL: embedder.url,
      EMBEDDING_API_KEY: 'k',
    })
    const input = ['Owls hoot.', 'Herons fish.']
    const { data } = await clientOf(own).embeddings.create({ model: 'any', input })
    expect(data.map(({ index }) => index)).toEqual([0, 1])
    const plain = await own.request('/v1/embeddings', { body: { input } })
    const floats = Embeddings.parse(await plain.json()).data.map(({ embedding }) => embedding)
    expect(floats[0]?.length).toBeGreaterThan(1)
    expect(data.map(({ embedding }) => embedding)).toEqual(floats)
    const dimensions = floats[0]?.length ?? 0
    const same = await clientOf(own).embeddings.create({ model: 'any', input, dimensions })
    expect(same.usage).toEqual({ prompt_tokens: 6, total_tokens: 6 })
    const others = clientOf(own).embeddings.create({ model: 'any', input, dimensions: 7 })
    const message = expect.stringContaining(`must be ${dimensions}, which the model determines`)
    await expect(others).rejects.toMatchObject({ status: 400, param: 'dimensions', message })
    const tokensOf = { owls: [46, 10209, 11757, 13], none: [100_300] }
    const vectorsOf = async (input: OpenAI.EmbeddingCreateParams['input']) =>
      (await clientOf(own).embeddings.create({ model: 'any', input })).data.map(
        ({ embedding }) => embedding,
      )
    const [offering] = await vectorsOf('O offering_work.')
    expect(await vectorsOf(tokensOf.owls)).toEqual([offering])
    expect(await vectorsOf([tokensOf.owls, tokensOf.owls])).toEqual([offering, offering])
    await expect(vectorsOf([tokensOf.owls, tokensOf.none])).rejects.toMatchObject({
      status: 400,
      param: 'input',
      message: expect.stringContaining('holds 100300, which is not a token of cl100k_base'),
    })
    expect(await vectorsOf([220])).toEqual(await vectorsOf(' '))
    await own.close()
    await embedder.close()
  })
  it(
    'are made of as many texts as OpenAI takes, within a bound for all of them',
    onlyLong,
    async () => {
      const embedder = await startScriptedEmbedder()
      const own = await startServer({
        EMBEDDING_MODEL: 'scripted',
        EMBEDDING_BASE_URL: embedder.url,
        EMBEDDING_API_KEY: 'k',
      })
      const ask = (input: string[]) => own.request('/v1/embeddings', { body: { input } })
      const many = await ask(Array.from({ length: 2_048 }, (_, place) => `Owl ${place % 7} hoots.`))
      const vectors = Embeddings.parse(await many.json()).data.map(({ embedding }) => embedding)
      expect(vectors).toHaveLength(2_048)
      expect(vectors[2_044]).toEqual(vectors[0])
      const tooMany = await ask(Array<string>(2_049).fill('Owls hoot.'))
      const tooLong = await ask(Array<string>(11).fill('Owls hoot. '.repeat(18_180)))
      for (const response of [tooMany, tooLong]) {
        expect(response.status).toBe(400)
        expect(await response.json()).toMatchObject({ error: { param: 'input' } })
      }
    },
  )
})
