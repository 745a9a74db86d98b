import { hash } from 'node:crypto'
import { createEncryption } from '@agent-server/lib/encrypted.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import { everything } from '@agent-server/lib/visibility.ts'
import type { FormPart } from '@agent-server/schemas/new-document.ts'
import { MASTER } from '@agent-server/schemas/operator/api-key.ts'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createSqliteData } from '../../../packages/stores/test/sqlite/store-data.ts'
import type { AllDocuments } from '../../../src/documents/ingestion/documents.ts'
import { createDocuments } from '../../../src/documents/ingestion/documents.ts'
import { createFiles, receiveFile } from '../../../src/documents/ingestion/uploads.ts'

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
    cursors: createEncryption('key-of-the-cursors', 'cursors'),
    store,
    wake,
    log: { warn: () => undefined },
    index: {
      check: async () => undefined,
      refreshLabels: async () => undefined,
      remove: async () => undefined,
    },
    lookup: store.lookup,
    completionWaiter: { wait: async () => undefined },
  })
  const countFiles = () => data.database().prepare('SELECT count(*) AS n FROM files').get()?.n
  return {
    store,
    documents,
    countFiles,
    woken: () => woken,
    files: createFiles({ store })(ofEverything(documents), MASTER),
  }
}

/** The documents for a caller that sees all of them. */
const ofEverything = (documents: AllDocuments) => ({
  create: documents.create,
  put: documents.put.bind(undefined, everything()),
  get: documents.get.bind(undefined, everything()),
  list: documents.list.bind(undefined, everything()),
})

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
    expect(await store.get(everything(), created.id)).toMatchObject({
      title: 'A title',
      file: { name: 'a.txt', mediaType: 'text/plain', size: 5 },
    })
    expect(woken()).toBe(1)
  })

  it('that is refused says why, also where the store cannot forget its file', async () => {
    const { store } = await openFiles()
    const full = () => Promise.reject(new AppError('queue_full', 'Full'))
    const dropStaged = () => Promise.reject(new AppError('store_unavailable', 'Away'))
    const into = createFiles({ store: { ...store, dropStaged } })
    const files = into({ create: full, put: full, get: full, list: full }, MASTER)
    await expect(files.create(formOf('Text.'))).rejects.toMatchObject({ code: 'queue_full' })
  })

  it('goes by the name of its file where it has no title', async () => {
    const { files, store } = await openFiles()
    const { id } = await files.create(formOf('Text.'))
    expect(await store.get(everything(), id)).toMatchObject({ title: 'a.txt' })
  })

  it('is put in the place of another', async () => {
    const { files, store, woken } = await openFiles()
    await files.put('mine', formOf('One.'))
    expect(await files.put('mine', formOf('Two.'))).toEqual({ id: 'mine', status: 'pending' })
    expect(await store.get(everything(), 'mine')).toMatchObject({ revision: 2 })
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
    const sha256 = hash('sha256', 'Text.')
    expect(file).toEqual({ name: 'a.txt', mediaType: 'text/plain', size: 5, sha256 })
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

  it('of one key leave room for those of others', async () => {
    const { store, documents } = await openFiles()
    const into = createFiles({ store })
    const ofKey = (id: string) => into(ofEverything(documents), { key: { id, name: id } })
    const [one, other] = [ofKey('a'), ofKey('b')]
    const uploads = Array.from({ length: 8 }, hanging)
    const results = uploads.map(({ form }) => one.create(form))
    const full = { code: 'too_many_uploads', retryAfter: expect.any(Number) }
    await expect(one.create(formOf('Text.'))).rejects.toMatchObject(full)
    expect(await other.create(formOf('Text.'))).toMatchObject({ status: 'pending' })
    for (const { end } of uploads) end()
    await Promise.all(results)
    expect(await one.create(formOf('Text.'))).toMatchObject({ status: 'pending' })
  })
})

const field = (name: string, value: string): FormPart => ({ kind: 'field', name, value })

function filePart(content = 'Text.', more: Partial<FilePart> = {}): FilePart {
  async function* bytes() {
    for (const character of content) yield Buffer.from(character)
  }
  return {
    kind: 'file',
    name: 'file',
    fileName: 'a.txt',
    mediaType: 'text/plain',
    bytes: bytes(),
    ...more,
  } as const
}

type FilePart = Extract<FormPart, { kind: 'file' }>

/** A fake of the store that remembers what it keeps. */
function fakeStore() {
  const kept = new Map<number, string>()
  return {
    kept,
    async stageFile(pieces: AsyncIterable<Uint8Array>) {
      const content = Buffer.concat(await Array.fromAsync(pieces))
      const number = kept.size + 1
      kept.set(number, content.toString())
      return { number, size: content.length }
    },
    async dropStaged(number: number) {
      kept.delete(number)
    },
  }
}

async function* formWith(parts: readonly FormPart[]) {
  yield* parts
}

const receive = async (...parts: FormPart[]) => {
  const store = fakeStore()
  const received = await receiveFile(formWith(parts), store)
  return { ...received, kept: [...store.kept.values()] }
}

describe('A form', () => {
  it('is a file and the fields around it', async () => {
    const received = await receive(
      field('title', 'A title'),
      filePart(),
      field('url', 'https://example.org'),
      field('metadata', '{"year": 2026, "draft": false}'),
    )
    expect(received).toMatchObject({
      content: {
        text: '',
        title: 'A title',
        url: 'https://example.org',
        file: { number: 1, name: 'a.txt', mediaType: 'text/plain', size: 5 },
        metadata: { year: 2026, draft: false },
      },
      kept: ['Text.'],
    })
  })

  it('may have a file alone, and fields that nobody knows', async () => {
    const { content } = await receive(filePart(), field('colour', 'red'))
    expect(content).toEqual({ text: '', title: 'a.txt', file: expect.anything() })
  })

  it.each([
    ['folder/a.txt', 'a.txt'],
    ['C:\\folder\\a.txt', 'a.txt'],
    ['../../etc/passwd', 'passwd'],
    ['%22a%22.txt', '"a".txt'],
    ['a\u0000\u0007\n.txt', 'a .txt'],
    ['  a.txt ', 'a.txt'],
    [`${'ä'.repeat(300)}.txt`, 'ä'.repeat(255)],
    [`${'x'.repeat(254)}👋`, `${'x'.repeat(254)}\uFFFD`],
    ['', 'file'],
    ['/', 'file'],
    [undefined, 'file'],
  ])('has a file without a path: %s', async (fileName, name) => {
    const { content } = await receive(filePart('Text.', { fileName }))
    expect(content.file.name).toBe(name)
  })
})

describe('The digest of a form', () => {
  const digest = async (...parts: FormPart[]) => (await receive(...parts)).digest
  const usual = () => [filePart(), field('title', 'A'), field('metadata', '{"a":1,"b":2}')]

  it('is the same whatever the order of its parts and of its metadata', async () => {
    const other = [field('metadata', '{ "b": 2, "a": 1 }'), field('title', 'A'), filePart()]
    expect(await digest(...other)).toBe(await digest(...usual()))
  })

  it.each([
    ['bytes', [filePart('Test.'), ...usual().slice(1)]],
    ['name', [filePart('Text.', { fileName: 'b.txt' }), ...usual().slice(1)]],
    ['media type', [filePart('Text.', { mediaType: 'text/x' }), ...usual().slice(1)]],
    ['title', [...usual().slice(0, 1), field('title', 'B'), ...usual().slice(2)]],
    ['metadata', [...usual().slice(0, 2), field('metadata', '{"a":1}')]],
    ['url', [...usual(), field('url', 'https://example.org')]],
  ])('is another where the %s is another', async (_what, parts) => {
    expect(await digest(...parts)).not.toBe(await digest(...usual()))
  })
})

describe('A form that is not right leaves nothing', () => {
  it.each([
    ['no file', [field('title', 'A')], 'file'],
    ['an empty file', [filePart('')], 'file'],
    ['two files', [filePart(), filePart()], 'file'],
    ['a file of another name', [filePart('Text.', { name: 'upload' })], 'upload'],
    ['a second file of another name', [filePart(), filePart('T', { name: 'b' })], 'b'],
    ['a field twice', [filePart(), field('title', 'A'), field('title', 'B')], 'title'],
    ['a title too long', [filePart(), field('title', 'x'.repeat(1_001))], 'title'],
    ['a url too long', [filePart(), field('url', 'x'.repeat(4_001))], 'url'],
    ['metadata that is no JSON', [filePart(), field('metadata', 'year=2026')], 'metadata'],
    ['metadata that is a list', [filePart(), field('metadata', '[1]')], 'metadata'],
    ['metadata that nests', [filePart(), field('metadata', '{"a":{"b":1}}')], 'metadata.a'],
  ])('and says which field: %s', async (_case, parts, param) => {
    const store = fakeStore()
    await expect(receiveFile(formWith(parts), store)).rejects.toMatchObject({
      code: 'invalid_request',
      param,
      message: expect.stringContaining(`${param}: `),
    })
    expect(store.kept.size).toBe(0)
  })

  it('as soon as the store can forget it, and until then says what is not right', async () => {
    const away = { ...fakeStore(), dropStaged: () => Promise.reject(new Error('away')) }
    const parts = [filePart(), field('title', 'A'), field('title', 'B')]
    await expect(receiveFile(formWith(parts), away)).rejects.toMatchObject({
      code: 'invalid_request',
      param: 'title',
    })
  })

  it('also where it breaks off behind its file', async () => {
    const store = fakeStore()
    const broken = async function* () {
      yield filePart()
      throw new Error('the caller hung up')
    }
    await expect(receiveFile(broken(), store)).rejects.toThrow('hung up')
    expect(store.kept.size).toBe(0)
  })
})
