import { describe, expect, it } from 'vitest'
import { verifies } from '../requirements.ts'
import { failureOf } from '../support/failure.ts'
import { sendFile } from '../support/forms.ts'
import { countDocuments } from '../support/knowledge.ts'
import { openConnection, rawRequest } from '../support/raw-connection.ts'
import { startServer } from '../support/server.ts'

const LARGE = 3_000_000
const FORM = 'content-type: multipart/form-data; boundary=b'
const FORM_HEAD = '--b\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\n'

/** Its queue has room for one, which waits. */
const server = await startServer({ INGEST_QUEUE_LIMIT: '1' }, { begin: false })
const headers = { 'idempotency-key': 'known' }
await server.request('/documents/waits', { method: 'PUT', body: { text: 'Waits.' } })
await server.request('/documents', { body: { text: 'Refused.' }, headers })

const begin = (path: string, headers: string[] = [], method = 'POST') =>
  rawRequest({ method, path, headers: [`content-length: ${LARGE}`, ...headers], body: '' })

describe('A full queue', () => {
  it.each([
    ['a document', '/documents', [], 'POST'],
    ['a document under an id', '/documents/new', [], 'PUT'],
    ['a batch', '/documents/batch', [], 'POST'],
    ['a file', '/documents', [FORM], 'POST'],
    ['a file under an id', '/documents/new', [FORM], 'PUT'],
    ['a document with a new key', '/documents', ['idempotency-key: new'], 'POST'],
  ])(
    'refuses %s before it is read, takes in little of it, and closes the connection',
    verifies('documents.queue-full.early', 'errors.retry-after'),
    async (_what, path, headers, method) => {
      const connection = await openConnection(server)
      connection.send(begin(path, headers, method))
      const refusal = await connection.received(/"queue_full"/)
      expect(refusal).toMatch(/^HTTP\/1\.1 429 /)
      expect(refusal).toMatch(/retry-after: 5\r\n/i)
      expect(refusal).toMatch(/connection: close\r\n/i)
      await connection.closed()
      expect(await countDocuments(server)).toBe(1)
    },
  )

  it(
    'spares a client that asks first the body, and closes the connection in order',
    verifies('documents.queue-full.early'),
    async () => {
      const connection = await openConnection(server)
      connection.send(begin('/documents', [FORM, 'expect: 100-continue']))
      const answer = await connection.closed()
      expect(answer).toMatch(/^HTTP\/1\.1 429 /)
      expect(answer).toMatch(/connection: close\r\n/i)
      expect(answer).not.toContain('100 Continue')
    },
  )

  it(
    'takes a replacement of what waits already, also from a client that asks first',
    verifies('documents.queue-full.early'),
    async () => {
      const name = 'a.txt'
      const replaced = await sendFile(
        server,
        { name, bytes: 'A file instead.' },
        { method: 'PUT', path: '/documents/waits' },
      )
      expect(replaced.status).toBe(202)
      const connection = await openConnection(server)
      connection.send(begin('/documents/waits', [FORM, 'expect: 100-continue'], 'PUT'))
      await connection.received(/^HTTP\/1\.1 100 Continue\r\n\r\n/)
      const end = '\r\n--b--\r\n'
      const content = Buffer.alloc(LARGE - FORM_HEAD.length - end.length, 'x')
      connection.send(Buffer.concat([Buffer.from(FORM_HEAD), content, Buffer.from(end)]))
      expect(await connection.received(/"status":"pending"/)).toMatch(/HTTP\/1\.1 202 /)
      connection.vanish()
    },
  )

  it('is asked again when a body is there', verifies('documents.queue-full'), async () => {
    const failure = await failureOf(
      await server.request('/documents', { body: { text: 'Small.' } }),
    )
    expect(failure).toMatchObject({ status: 429, code: 'queue_full' })
  })
})

describe('A client that asks before it sends', () => {
  it('is told at once that its key is wrong', verifies('documents.queue-full.early'), async () => {
    const connection = await openConnection(server)
    const request = begin('/documents', ['expect: 100-continue']).toString()
    connection.send(request.replace(/authorization: Bearer \S+/, 'authorization: Bearer wrong'))
    const answer = await connection.closed()
    expect(answer).toMatch(/^HTTP\/1\.1 401 /)
    expect(answer).not.toContain('100 Continue')
  })
})
