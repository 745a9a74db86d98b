import { setTimeout as pause } from 'node:timers/promises'
import { AppError } from '@agent-server/lib/errors.ts'
import { LINES, type LineResult } from '@agent-server/schemas/document-batch.ts'
import { describe, expect, it } from 'vitest'
import { createLineIngestion } from '../../../src/documents/ingestion/batch.ts'

type Input = { text: string; id?: string; key?: string | undefined }

const full = new AppError('queue_full', 'Too many documents wait')

/** Line ingestion over a fake that keeps what it is given, after `storing` has let it. */
function createForTest(storing: (input: Input) => Promise<void> = async () => undefined) {
  const stored: Input[] = []
  const logged: unknown[] = []
  const keep = async (input: Input, id: string) => {
    await storing(input)
    stored.push(input)
    return { id, status: 'pending' as const }
  }
  const lines = createLineIngestion({
    documents: {
      create: ({ text }, key) => keep({ text, ...(key && { key }) }, `doc_${text}`),
      put: (id, { text }) => keep({ id, text }, id),
    },
    log: { error: (fields) => logged.push(fields) },
    maxWaitMs: 500,
  })
  const run = async (parts: Iterable<string | Buffer> | AsyncIterable<Buffer>, signal = never) => {
    const results: LineResult[] = []
    await lines.run(bytes(parts), (result) => results.push(result), signal)
    return results
  }
  return { lines, run, stored, logged }
}

const { signal: never } = new AbortController()

async function* bytes(parts: Iterable<string | Buffer> | AsyncIterable<Buffer>) {
  for await (const part of parts) yield Buffer.from(part)
}

const line = (document: object) => `${JSON.stringify(document)}\n`

describe('A stream of lines', () => {
  it('answers for each what became of it, and leaves out blank ones', async () => {
    const { run, stored } = createForTest()
    const results = await run([
      line({ text: 'a' }),
      '\n  \r\n',
      line({ id: 'mine', text: 'b' }),
      line({ idempotencyKey: 'k', text: 'c' }),
      '{"text": "without an end"}',
    ])
    expect(results).toEqual([
      { line: 1, id: 'doc_a', status: 'pending' },
      { line: 4, id: 'mine', status: 'pending' },
      { line: 5, id: 'doc_c', status: 'pending' },
      { line: 6, id: 'doc_without an end', status: 'pending' },
    ])
    expect(stored.slice(0, 3)).toEqual([
      { text: 'a' },
      { id: 'mine', text: 'b' },
      { text: 'c', key: 'k' },
    ])
  })

  it.each([
    ['no JSON', '{"text"', null],
    ['no object', '[]', null],
    ['bytes that are no text', Buffer.from([0x22, 0xff, 0x22]), null],
    ['no text', '{"title":"x"}', 'text'],
    ['an empty text', '{"text":" "}', 'text'],
    ['an id that cannot be', '{"id":"a b","text":"x"}', 'id'],
    ['both an id and a key', '{"id":"a","idempotencyKey":"k","text":"x"}', 'idempotencyKey'],
    ['metadata that is none', '{"text":"x","metadata":{"a":[]}}', 'metadata.a'],
  ])('refuses a line with %s alone, naming the field', async (_what, content, param) => {
    const { run, stored } = createForTest()
    const results = await run([content, '\n', line({ text: 'a' })])
    expect(results).toMatchObject([
      { line: 1, error: { code: 'invalid_request', param } },
      { line: 2, id: 'doc_a' },
    ])
    expect(stored).toEqual([{ text: 'a' }])
  })

  it('refuses a line that is too long alone', async () => {
    const { run } = createForTest()
    const results = await run([Buffer.alloc(LINES.bytes + 1, 'x'), '\n', line({ text: 'a' })])
    expect(results).toMatchObject([{ line: 1, error: { code: 'body_too_large' } }, { line: 2 }])
  })

  it('refuses the line after the last that a request may have, and stores no more', async () => {
    const { run, stored } = createForTest()
    const blank = '\n'.repeat(LINES.count - 1)
    const results = await run([
      blank,
      line({ text: 'a' }),
      line({ text: 'b' }),
      line({ text: 'c' }),
    ])
    expect(results).toMatchObject([
      { line: LINES.count, id: 'doc_a' },
      { line: LINES.count + 1, error: { code: 'body_too_large' } },
    ])
    expect(stored).toEqual([{ text: 'a' }])
  })

  it('answers in the order of the lines, whichever is durable first', async () => {
    const first = Promise.withResolvers<void>()
    const { run, stored } = createForTest(async ({ text }) => {
      if (text === 'b') return first.resolve()
      await first.promise
      await pause(1)
    })
    const results = await run([line({ text: 'a' }), line({ text: 'b' })])
    expect(stored.map(({ text }) => text)).toEqual(['b', 'a'])
    expect(results.map(({ line: number }) => number)).toEqual([1, 2])
  })

  it('is read no faster than lines are stored', async () => {
    let read = 0
    const gate = Promise.withResolvers<void>()
    const { run } = createForTest(() => gate.promise)
    const parts = async function* () {
      for (read = 0; read < 1_000; read++) yield Buffer.from(line({ text: `${read}` }))
    }
    const done = run(parts())
    await pause(20)
    expect(read).toBeLessThan(100)
    gate.resolve()
    expect(await done).toHaveLength(1_000)
  })

  it('answers a line before the next one comes', async () => {
    const { lines } = createForTest()
    const answered = Promise.withResolvers<LineResult>()
    const parts = async function* () {
      yield Buffer.from(line({ text: 'a' }))
      expect(await answered.promise).toMatchObject({ line: 1 })
    }
    await lines.run(parts(), answered.resolve, never)
  })

  it('waits for room in the queue', async () => {
    let refusals = 2
    const { run } = createForTest(async () => {
      if (refusals-- > 0) throw full
    })
    expect(await run([line({ text: 'a' })])).toMatchObject([{ id: 'doc_a' }])
  })

  it('waits for a queue that does not move no longer than for one line', async () => {
    const { run } = createForTest(() => Promise.reject(full))
    const begun = performance.now()
    const results = await run(Array.from({ length: 200 }, () => line({ text: 'a' })))
    expect(results).toHaveLength(200)
    expect(results.at(-1)).toMatchObject({ line: 200, error: { code: 'queue_full' } })
    expect(performance.now() - begun).toBeLessThan(10_000)
  })

  it('tells no client of a fault, but the log', async () => {
    const { run, logged } = createForTest(() => Promise.reject(new Error('secret')))
    expect(await run([line({ text: 'a' })])).toEqual([
      { line: 1, error: { code: 'internal', message: 'Internal error', param: null } },
    ])
    expect(logged).toMatchObject([{ err: { message: 'secret' }, line: 1 }])
  })

  it('that breaks off has stored its whole lines, and answered them', async () => {
    const { lines, stored } = createForTest()
    const results: LineResult[] = []
    const parts = async function* () {
      yield Buffer.from(`${line({ text: 'a' })}{"text":"half"}`)
      await Promise.resolve()
      throw new Error('aborted')
    }
    const running = lines.run(parts(), (result) => results.push(result), never)
    await expect(running).rejects.toThrow('aborted')
    expect(stored).toEqual([{ text: 'a' }])
    expect(results).toMatchObject([{ line: 1 }])
  })

  it('ends with the reason of the signal, also while it waits for room', async () => {
    const stop = new AbortController()
    const { run } = createForTest(() => {
      stop.abort(new Error('stopped'))
      return Promise.reject(full)
    })
    await expect(run([line({ text: 'a' })], stop.signal)).rejects.toThrow('stopped')
  })
})
