import { request as httpRequest } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { LineResult } from '@agent-server/schemas/document-batch.ts'
import { describe, expect, it } from 'vitest'
import { verifies } from '../requirements.ts'
import { failureOf } from '../support/failure.ts'
import { countDocuments } from '../support/knowledge.ts'
import { onlyLong } from '../support/long.ts'
import { settledDocument, startServer, TEST_KEY, type TestServer } from '../support/server.ts'

const server = await startServer()

const NDJSON = { 'content-type': 'application/x-ndjson' }
const line = (document: object) => `${JSON.stringify(document)}\n`
const post = (body: string, on = server) =>
  on.request('/documents/batch', { body, headers: NDJSON })
const resultsOf = async (response: Response) =>
  (await response.text())
    .trimEnd()
    .split('\n')
    .map((text) => LineResult.parse(JSON.parse(text)))

/** A connection that sends lines one by one. */
function openStream({ url }: TestServer) {
  const request = httpRequest(`${url}/documents/batch`, {
    method: 'POST',
    headers: { ...NDJSON, authorization: `Bearer ${TEST_KEY}` },
  })
  const response = new Promise<string>((resolve, reject) => {
    request.on('error', reject).once('response', (incoming) => {
      incoming.setEncoding('utf8')
      incoming.once('data', resolve)
      incoming.once('error', () => undefined)
    })
  })
  return { request, firstPart: response }
}

describe('POST /documents/batch with lines', () => {
  it(
    'stores each document, and answers line by line what became of it',
    verifies('documents.lines', 'documents.lines.order'),
    async () => {
      const documents = Array.from({ length: 200 }, (_, n) => ({
        id: `line-${n}`,
        text: `Line ${n}.`,
      }))
      const body = documents.map(line).join('')
      const response = await post(body.replace('{"id":"line-7",', '{"id":"not an id",'))
      expect(response.status).toBe(200)
      expect(response.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8')
      const results = await resultsOf(response)
      expect(results.map(({ line: number }) => number)).toEqual(documents.map((_, n) => n + 1))
      expect(results[7]).toMatchObject({ error: { code: 'invalid_request', param: 'id' } })
      expect(results[8]).toMatchObject({ id: 'line-8', status: 'pending' })
      expect(await settledDocument(server.request, 'line-199')).toMatchObject({ status: 'ready' })
    },
  )

  it('takes far more than BODY_LIMIT', verifies('documents.lines'), async () => {
    const small = await startServer({ BODY_LIMIT: '1000' })
    const results = await resultsOf(
      await post(line({ text: 'Words. '.repeat(100) }).repeat(20), small),
    )
    expect(results).toHaveLength(20)
    expect(
      await failureOf(await small.request('/documents', { body: { text: 'x'.repeat(2_000) } })),
    ).toMatchObject({ status: 413 })
  })

  it('may be sent again where lines have an id or a key', verifies('documents.lines'), async () => {
    const fresh = await startServer()
    const body = line({ id: 'a', text: 'One.' }) + line({ idempotencyKey: 'k', text: 'Two.' })
    const first = await resultsOf(await post(body, fresh))
    const again = await resultsOf(await post(body, fresh))
    expect(again.map((result) => 'id' in result && result.id)).toEqual(
      first.map((result) => 'id' in result && result.id),
    )
    expect(await countDocuments(fresh)).toBe(2)
  })

  it('answers a line before the request has ended', verifies('documents.lines.order'), async () => {
    const { request, firstPart } = openStream(server)
    request.write(line({ text: 'The first.' }))
    expect(LineResult.parse(JSON.parse(await firstPart))).toMatchObject({
      line: 1,
      status: 'pending',
    })
    request.end()
  })

  it(
    'of a client that breaks off keeps whole lines, and no half one',
    verifies('documents.lines.broken'),
    async () => {
      const fresh = await startServer()
      const { request, firstPart } = openStream(fresh)
      request.on('error', () => undefined)
      request.write(`${line({ id: 'whole', text: 'Whole.' })}{"id":"half","text":"Half."}`)
      await firstPart
      request.destroy()
      expect(await settledDocument(fresh.request, 'whole')).toMatchObject({ status: 'ready' })
      expect((await fresh.request('/documents/half')).status).toBe(404)
    },
  )

  it('waits for a queue that is full', {
    ...verifies('documents.lines.full'),
    ...onlyLong,
  }, async () => {
    const busy = await startServer({ INGEST_QUEUE_LIMIT: '3' })
    const results = await resultsOf(await post(line({ text: 'Words.' }).repeat(40), busy))
    expect(results.filter((result) => 'error' in result)).toEqual([])
    expect(await countDocuments(busy)).toBe(40)
  })

  it('outlasts the time that other requests have', {
    ...verifies('documents.lines'),
    ...onlyLong,
  }, async () => {
    const patient = await startServer(
      {},
      {
        beforeListen: ({ server: http }) =>
          Object.assign(http, { requestTimeout: 800, connectionsCheckingInterval: 50 }),
      },
    )
    const { request, firstPart } = openStream(patient)
    request.write(line({ id: 'early', text: 'Early.' }))
    await firstPart
    await pause(1_200)
    request.end(line({ id: 'late', text: 'Late.' }))
    expect(await settledDocument(patient.request, 'early')).toMatchObject({ status: 'ready' })
    const late = async () => (await patient.request('/documents/late')).status
    await expect.poll(late).toBe(200)
  })

  it.each([
    ['without a key', { authorization: 'Bearer wrong' }, 401],
    ['compressed', { 'content-encoding': 'gzip' }, 415],
  ])('is refused as any other request where it comes %s', async (_how, headers, status) => {
    const response = await server.request('/documents/batch', {
      body: line({ text: 'x' }),
      headers: { ...NDJSON, ...headers },
    })
    expect(await failureOf(response)).toMatchObject({ status })
  })

  it('is empty for empty input', async () => {
    const response = await post('\n')
    expect([response.status, await response.text()]).toEqual([200, ''])
  })

  it('is taken by this route alone', async () => {
    const response = await server.request('/documents', {
      body: line({ text: 'x' }),
      headers: NDJSON,
    })
    expect(await failureOf(response)).toMatchObject({ status: 415 })
  })
})
