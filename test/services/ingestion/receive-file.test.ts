import { describe, expect, it } from 'vitest'
import type { FormPart } from '../../../src/schemas/new-document.ts'
import { receiveFile } from '../../../src/services/ingestion/uploads.ts'

const field = (name: string, value: string): FormPart => ({ kind: 'field', name, value })

function filePart(content = 'Text.', more: Partial<FilePart> = {}): FilePart {
  async function* bytes() {
    for (const character of content) yield Buffer.from(character)
  }
  return {
    ...{ kind: 'file', name: 'file', fileName: 'a.txt', mediaType: 'text/plain' },
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

async function* formOf(parts: readonly FormPart[]) {
  yield* parts
}

const receive = async (...parts: FormPart[]) => {
  const store = fakeStore()
  const received = await receiveFile(formOf(parts), store)
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
        ...{ text: '', title: 'A title', url: 'https://example.org' },
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
    ['url', [...usual(), field('url', 'x')]],
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
    await expect(receiveFile(formOf(parts), store)).rejects.toMatchObject({
      ...{ code: 'invalid_request', param, message: expect.stringContaining(`${param}: `) },
    })
    expect(store.kept.size).toBe(0)
  })

  it('as soon as the store can forget it, and until then says what is not right', async () => {
    const away = { ...fakeStore(), dropStaged: () => Promise.reject(new Error('away')) }
    const parts = [filePart(), field('title', 'A'), field('title', 'B')]
    await expect(receiveFile(formOf(parts), away)).rejects.toMatchObject({
      ...{ code: 'invalid_request', param: 'title' },
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
