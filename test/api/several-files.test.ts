import { Document, DocumentCreated } from '@agent-server/schemas/document.ts'
import { FILES } from '@agent-server/schemas/document-batch.ts'
import { describe, expect, it } from 'vitest'
import { failureOf } from '../support/failure.ts'
import { fixture, sendForm } from '../support/forms.ts'
import { long, onlyLong, someOf } from '../support/long.ts'
import { startServer } from '../support/server.ts'

const server = await startServer()

type Part = [name: string, value: string | File]

const send = (parts: readonly Part[], headers = {}, to: Pick<typeof server, 'url'> = server) => {
  const form = new FormData()
  for (const [name, value] of parts) form.append(name, value)
  return sendForm(to, form, { path: '/documents/batch', headers })
}
const file = (
  name: string,
  content: string | Uint8Array<ArrayBuffer> = `What ${name} says.`,
): Part => ['file', new File([content], name)]
const resultsOf = async (response: Response) => {
  expect(response.status).toBe(202)
  return Object(await response.json()).results
}
const documentOf = async (result: unknown) => {
  const { id } = DocumentCreated.parse(result)
  await expect
    .poll(async () => Object(await (await server.request(`/documents/${id}`)).json()).status)
    .toBe('ready')
  return Document.parse(await (await server.request(`/documents/${id}`)).json())
}
const count = async (to = server) =>
  Object(await (await to.request('/documents?total=true&limit=1')).json()).total

describe('Several files in one form', () => {
  it('become documents, in order, each with the fields before it', async () => {
    const results = await resultsOf(
      await send([
        ['title', 'Owls'],
        ['metadata', '{"path":"birds/owls.txt"}'],
        file('owls.txt'),
        file('storks.md', fixture('storks.md')),
        ['collection', 'books'],
        file('owls.pdf', fixture('owls.pdf')),
      ]),
    )
    const [owls, storks, book] = await Promise.all(results.map(documentOf))
    expect(owls).toMatchObject({ title: 'Owls', metadata: { path: 'birds/owls.txt' } })
    expect(owls?.file).toMatchObject({ name: 'owls.txt', mediaType: 'text/plain', size: 19 })
    expect(storks).toMatchObject({ title: 'storks.md' })
    expect(storks?.metadata).toBeUndefined()
    expect(book).toMatchObject({ file: { name: 'owls.pdf' }, metadata: { collection: 'books' } })
  })

  it('fail by themselves', async () => {
    const before = await count()
    const [empty, fields, large, key, fine] = await resultsOf(
      await send([
        file('empty.txt', ''),
        ['metadata', 'no JSON'],
        file('fields.txt'),
        file('large.txt', new Uint8Array(FILES.bytes + 1)),
        ['idempotencyKey', 'with spaces'],
        file('key.txt'),
        file('fine.txt', new Uint8Array(FILES.bytes).fill(97)),
      ]),
    )
    expect(empty.error).toMatchObject({ code: 'invalid_request', message: /file: must not be/ })
    expect(fields.error).toMatchObject({ message: 'metadata: must be a JSON object' })
    expect(large.error).toMatchObject({ code: 'body_too_large', message: /send it by itself/ })
    expect(key.error.message).toMatch(/^idempotencyKey: /)
    expect(await documentOf(fine)).toMatchObject({ file: { size: FILES.bytes } })
    expect(await count()).toBe(before + 1)
  })

  it('are not stored twice with the same key, and name the document with the same file', async () => {
    const parts: Part[] = [
      ['idempotencyKey', 'first'],
      file('first.txt', 'Terns.'),
      ['idempotencyKey', 'second'],
      file('second.txt', 'Gulls.'),
    ]
    const results = await resultsOf(await send(parts))
    const before = await count()
    expect(await resultsOf(await send(parts))).toMatchObject([
      { id: results[0].id },
      { id: results[1].id },
    ])
    expect(await count()).toBe(before)
    const [copy, fresh, twin] = await resultsOf(
      await send([
        file('copy.txt', 'Terns.'),
        file('fresh.txt', 'Skuas.'),
        file('twin.txt', 'Skuas.'),
      ]),
    )
    expect(copy.sameFile).toBe(results[0].id)
    expect(fresh.sameFile).toBeUndefined()
    expect(twin.sameFile).toBe(fresh.id)
  })

  it('keep to FILE_LIMIT, and those that the queue has room for are stored', onlyLong, async () => {
    const small = await startServer({ FILE_LIMIT: '1000', INGEST_QUEUE_LIMIT: '1' })
    const many = Array.from({ length: 40 }, (_, index) => file(`${index}.txt`))
    const [large, ...others]: { id?: string; error?: { code: string } }[] = await resultsOf(
      await send([file('large.txt', new Uint8Array(1_001)), ...many], {}, small),
    )
    expect(large?.error?.code).toBe('body_too_large')
    const refused = others.flatMap(({ error }) => (error ? [error.code] : []))
    expect(new Set(refused)).toEqual(new Set(['queue_full']))
    expect(await count(small)).toBe(many.length - refused.length)
  })

  it.each<[string, Part[], string]>(
    someOf(
      [
        ['no file', [['title', 'Owls']], 'title'],
        ['nothing but an unknown field', [['files', 'Owls']], 'files'],
        ['a field after the last file', [file('owls.txt'), ['title', 'Owls']], 'title'],
        ['too many files', Array.from({ length: FILES.count + 1 }, () => file('a.txt')), 'file'],
        ['only bad files', [file('a.txt', ''), file('b.txt', '')], 'file'],
      ],
      1,
    ),
  )('are refused with %s', long, async (_what, parts, param) => {
    const failure = await failureOf(await send(parts))
    expect(failure).toMatchObject({ status: 400, code: 'invalid_request', param })
  })

  it('are refused if the fields before them are too large together', async () => {
    const long = 'a'.repeat(60_000)
    const fields = Array.from({ length: 40 }, (): Part => ['title', long])
    const failure = await failureOf(await send([...fields, file('owls.txt')]))
    expect(failure).toMatchObject({ status: 413, code: 'body_too_large', param: 'title' })
    expect(failure.message).toBe(`The fields together are larger than ${FILES.fieldBytes} bytes`)
    const each = Array.from({ length: 5 }, (_, n): Part[] => [
      ['metadata', JSON.stringify({ n })],
      file(`${n}.txt`),
    ])
    expect(await resultsOf(await send(each.flat()))).toHaveLength(5)
  })

  it('are refused if they are too large together, before they are read', async () => {
    const whole = new Uint8Array(FILES.totalBytes + 3_000_000)
    const failure = await failureOf(await send([file('a.bin', whole)]))
    expect(failure).toMatchObject({ status: 413, code: 'body_too_large' })
    expect(failure.message).toMatch(/^The files together are larger/)
  })
})
