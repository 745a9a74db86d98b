import { describe, expect, it, onTestFinished } from 'vitest'
import { AppError } from '../../../src/errors.ts'
import type { FormPart } from '../../../src/schemas/new-document.ts'
import { createDocuments } from '../../../src/services/ingestion/documents.ts'
import { createFiles } from '../../../src/services/ingestion/uploads.ts'
import { createSqliteData } from '../../stores/sqlite/store-data.ts'

async function openFiles(queueLimit = 100) {
  const data = await createSqliteData()
  const store = await data.open({ queueLimit })
  onTestFinished(async () => {
    await store.close()
    await data.remove()
  })
  let woken = 0
  const wake = () => void woken++
  const documents = createDocuments({
    ...{ store, wake, log: { warn: () => undefined } },
    index: { keepsMetadata: false, check: async () => undefined, remove: async () => undefined },
    ...{ lookup: store.lookup, readd: async () => undefined },
    completionWaiter: { wait: async () => undefined },
  })
  const countFiles = () => data.database().prepare('SELECT count(*) AS n FROM files').get()?.n
  return {
    ...{ store, countFiles, woken: () => woken },
    files: createFiles({ store, documents }),
  }
}

async function* formOf(content: string, ...fields: FormPart[]): AsyncGenerator<FormPart> {
  async function* bytes() {
    yield Buffer.from(content)
  }
  yield* fields
  yield { kind: 'file', name: 'file', fileName: 'a.txt', mediaType: undefined, bytes: bytes() }
}

const title = (value: string): FormPart => ({ kind: 'field', name: 'title', value })

describe('A document of a file', () => {
  it('is stored as pending, and the ingestion is told', async () => {
    const { files, store, woken } = await openFiles()
    const created = await files.create(formOf('Text.', title('A title')))
    expect(created).toEqual({ id: expect.stringMatching(/^doc_/), status: 'pending' })
    expect(await store.get(created.id)).toMatchObject({
      ...{ title: 'A title', file: { name: 'a.txt', mediaType: 'text/plain', size: 5 } },
    })
    expect(woken()).toBe(1)
  })

  it('that is refused says why, also where the store cannot forget its file', async () => {
    const { store } = await openFiles()
    const full = () => Promise.reject(new AppError('queue_full', 'Full'))
    const dropStaged = () => Promise.reject(new AppError('store_unavailable', 'Away'))
    const files = createFiles({
      store: { ...store, dropStaged },
      documents: { create: full, put: full, get: full },
    })
    await expect(files.create(formOf('Text.'))).rejects.toMatchObject({ code: 'queue_full' })
  })

  it('goes by the name of its file where it has no title', async () => {
    const { files, store } = await openFiles()
    const { id } = await files.create(formOf('Text.'))
    expect(await store.get(id)).toMatchObject({ title: 'a.txt' })
  })

  it('is put in the place of another', async () => {
    const { files, store, woken } = await openFiles()
    await files.put('mine', formOf('One.'))
    expect(await files.put('mine', formOf('Two.'))).toEqual({ id: 'mine', status: 'pending' })
    expect(await store.get('mine')).toMatchObject({ revision: 2 })
    expect(woken()).toBe(2)
  })

  it('is stored once for one key, and its second copy is not kept', async () => {
    const { files, countFiles } = await openFiles()
    const { id } = await files.create(formOf('Text.'), 'key')
    expect(await files.create(formOf('Text.'), 'key')).toMatchObject({ id })
    await expect(files.create(formOf('Other.'), 'key')).rejects.toMatchObject({
      code: 'idempotency_conflict',
    })
    expect(countFiles()).toBe(1)
  })

  it('leaves nothing where the queue is full', async () => {
    const { files, countFiles } = await openFiles(1)
    await files.create(formOf('One.'))
    await expect(files.create(formOf('Two.'))).rejects.toMatchObject({ code: 'queue_full' })
    expect(countFiles()).toBe(1)
  })

  it('can be read back', async () => {
    const { files } = await openFiles()
    const { id } = await files.create(formOf('Text.'))
    const { pieces, ...file } = await files.read(id)
    expect(file).toEqual({ name: 'a.txt', mediaType: 'text/plain', size: 5 })
    expect(Buffer.concat(await Array.fromAsync(pieces)).toString()).toBe('Text.')
  })

  it.each([
    ['there is none', 'unknown', 'document_not_found', /There is no document/],
    ['text was sent', 'text', 'file_not_found', /was sent as text/],
  ])('cannot be read where %s', async (_case, id, code, message) => {
    const { files, store } = await openFiles()
    await store.add({ id: 'text', text: 'Text.' })
    await expect(files.read(id)).rejects.toThrow(message)
    await expect(files.read(id)).rejects.toMatchObject({ code })
  })
})

describe('Uploads at the same time', () => {
  const hanging = () => {
    const end = Promise.withResolvers<void>()
    async function* form(): AsyncGenerator<FormPart> {
      await end.promise
      yield* formOf('Text.')
    }
    return { form: form(), end: end.resolve, fail: end.reject }
  }

  it('are bounded, and free their places however they end', async () => {
    const { files } = await openFiles()
    const uploads = Array.from({ length: 16 }, hanging)
    const results = uploads.map(({ form }) => files.create(form))
    const full = { code: 'too_many_uploads', retryAfter: expect.any(Number) }
    await expect(files.create(formOf('Text.'))).rejects.toMatchObject(full)
    await expect(files.put('a', formOf('Text.'))).rejects.toMatchObject(full)
    uploads[0]?.end()
    expect(await results[0]).toMatchObject({ status: 'pending' })
    uploads[1]?.fail(new AppError('invalid_request', 'broken off'))
    await expect(results[1]).rejects.toThrow('broken off')
    expect(await Promise.all([1, 2].map(() => files.create(formOf('Text.'))))).toHaveLength(2)
    for (const { end } of uploads) end()
    await Promise.allSettled(results)
  })
})
