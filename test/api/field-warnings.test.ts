import { describe, expect, it } from 'vitest'
import { ask } from '../support/chat-reader.ts'
import { failureOf } from '../support/failure.ts'
import { sendFile } from '../support/forms.ts'
import { startServer } from '../support/server.ts'

const server = await startServer()

describe('A field of a body that means nothing', () => {
  const body = { query: 'owls', top_k: 1, filter: { field: 'year', eq: 1 }, explain: null }

  it('is named in the header warnings', async () => {
    const response = await server.request('/query', { body })
    expect(response.status).toBe(200)
    expect(response.headers.get('warnings')).toBe('unknown fields: top_k')
  })

  it('is named where it stands within another, in a stream, too', async () => {
    const messages = [{ role: 'user', content: 'owls', nämé: 'x' }]
    const response = await server.request('/chat', { body: { messages, topk: 1 } })
    expect(response.headers.get('warnings')).toBe('unknown fields: messages.0.n?m?, topk')
    await response.text()
  })

  it('is refused with strict=true', async () => {
    const failure = await failureOf(await server.request('/query?strict=true', { body }))
    expect(failure).toMatchObject({ status: 400, code: 'invalid_request', param: 'top_k' })
  })

  it.each<[string, object]>([
    ['/query', { query: 'owls', topK: 1 }],
    ['/documents', { text: 'Owls.', title: 'Owls', metadata: { any: 'thing' } }],
    ['/documents/batch', [{ text: 'Owls.', metadata: { any: 'thing' } }]],
    [
      '/v1/chat/completions',
      {
        messages: [{ role: 'user', content: [{ type: 'text', text: 'a' }] }],
        stream: false,
        tools: [
          { type: 'function', function: { name: 'a', parameters: { type: 'object', x: {} } } },
        ],
      },
    ],
  ])('is not found where there is none: %s', async (path, known) => {
    const response = await server.request(`${path}?strict=true`, { body: known })
    expect(response.headers.get('warnings') ?? '').not.toContain('unknown fields')
    expect(response.status).toBeLessThan(300)
  })
})

describe('A field of a form that means nothing', () => {
  const file = { name: 'owls.txt', bytes: 'Owls hunt at night.' }
  const sent = { 'expires_after[anchor]': 'created_at', 'expires_after[seconds]': '3600' }

  it.each([
    ['/documents', 'POST', { before: { tilte: 'Owls' } }, 'tilte'],
    ['/documents/owls', 'PUT', { after: { 'nämé x': 'a' } }, 'n?m??x'],
    ['/v1/files', 'POST', { before: { purpose: 'assistants', ...sent } }, 'expires_after'],
    ['/v1/files', 'POST', { after: { expires_after: '{"seconds": 3600}' } }, 'expires_after'],
  ] as const)('is named in the header warnings: %s, %s', async (path, method, more, name) => {
    const response = await sendFile(server, { ...file, ...more }, { path, method })
    expect(response.status).toBeLessThan(300)
    expect(response.headers.get('warnings')).toBe(`unknown fields: ${name}`)
    await response.text()
  })

  it('is refused with strict=true, and nothing is stored', async () => {
    const before = { topic: 'birds' }
    const path = '/documents?strict=true'
    const failure = await failureOf(await sendFile(server, { ...file, before }, { path }))
    expect(failure).toMatchObject({ status: 400, code: 'invalid_request', param: 'topic' })
  })

  it.each([
    ['/documents?strict=true', { title: 'Owls', collection: 'birds', metadata: '{"a": 1}' }],
    ['/v1/files?strict=true', { purpose: 'assistants', title: 'Owls' }],
  ])('is not found where there is none: %s', async (path, before) => {
    const response = await sendFile(server, { ...file, before }, { path })
    expect(response.status).toBeLessThan(300)
    expect(response.headers.get('warnings')).toBeNull()
    await response.text()
  })
})

describe('A path that takes other methods', () => {
  it.each([
    ['PUT', '/query', 'POST'],
    ['PUT', '/documents', 'GET, HEAD, POST'],
    ['GET', '/chat', 'POST'],
    ['POST', '/documents/doc_1/file', 'GET, HEAD'],
  ])('answers %s %s with 405, and names them', async (method, path, allow) => {
    const failure = await failureOf(await server.request(path, { method }))
    expect(failure).toMatchObject({ status: 405, code: 'method_not_allowed' })
    const allowed = failure.headers.get('allow')?.split(', ') ?? []
    expect(allowed).toEqual(expect.arrayContaining(allow.split(', ')))
    expect(allowed).not.toContain(method)
  })

  it('says so to those with the key alone', async () => {
    expect((await fetch(`${server.url}/query`)).status).toBe(401)
  })
})

describe('What strangers are told of readiness', () => {
  it('is no number of documents, and nothing new within a second', async () => {
    await ask(server, 'owls')
    const [first, second] = await Promise.all(
      [1, 2].map(async () => (await fetch(`${server.url}/readiness`)).json()),
    )
    expect(first).not.toHaveProperty('documents')
    expect(second).toEqual(first)
    const known = await (await server.request('/readiness')).json()
    expect(known).toHaveProperty('documents')
  })
})
