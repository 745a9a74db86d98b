import { describe, expect, it } from 'vitest'
import { AppError } from '../../../src/errors.ts'
import { createAnalyser } from '../../../src/indexes/analyser/analyser.ts'
import type { SegmentText } from '../../../src/services/ingestion/prepare-thread.ts'
import { createPrepareQueue } from '../../../src/services/ingestion/preparer.ts'
import { PreparationError } from '../../../src/services/ingestion/retry-policy.ts'
import { createGate } from './ingestion-parts.ts'

const NO_TERMS = createAnalyser('none').batch([])
const segment = (text: string): SegmentText => ({ title: undefined, text })

/** A queue to a thread that notes what each call holds; a call that holds `bad` fails. */
function openQueue({
  before = () => Promise.resolve(),
  error,
}: {
  before?: () => Promise<void>
  error?: Error
} = {}) {
  const calls: string[][] = []
  const queue = createPrepareQueue({
    async prepare(segments) {
      calls.push(segments.map(({ text }) => text.slice(0, 10)))
      await before()
      if (segments.some(({ text }) => text === 'bad')) {
        throw error ?? new PreparationError('preparation_crashed')
      }
      return segments.map(({ text }) => ({
        chunks: [{ text, heading: '', start: 0, end: text.length }],
        terms: NO_TERMS,
        context: { headings: [], fence: undefined },
      }))
    },
    async analyse(chunks) {
      calls.push(chunks.map(({ text }) => text))
      return NO_TERMS
    },
  })
  const prepareAll = (...texts: string[]) =>
    Promise.allSettled(texts.map((text) => queue.prepare(segment(text))))
  return { calls, queue, prepareAll }
}

describe('documents that wait for the preparation', () => {
  it('go together when they are small, each getting its own answer', async () => {
    const { calls, queue } = openQueue()
    const answers = await Promise.all(
      ['a', 'bb', 'ccc'].map((text) => queue.prepare(segment(text))),
    )
    expect(calls).toEqual([['a', 'bb', 'ccc']])
    expect(answers.map(({ chunks }) => chunks[0]?.text)).toEqual(['a', 'bb', 'ccc'])
  })

  it('go by themselves when they are long', async () => {
    const { calls, prepareAll } = openQueue()
    await prepareAll('a', 'b'.repeat(200_000), 'c')
    expect(calls).toEqual([['a'], ['bbbbbbbbbb'], ['c']])
  })

  it('go by themselves after a call that failed, so that only the one at fault fails', async () => {
    const { calls, prepareAll } = openQueue()
    const results = await prepareAll('a', 'bad', 'c')
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(results[1]).toMatchObject({ reason: { code: 'preparation_crashed' } })
    expect(calls).toEqual([['a', 'bad', 'c'], ['a'], ['bad'], ['c']])
  })

  it('all fail when the server is at fault', async () => {
    const error = new AppError('internal', 'The thread does not start')
    const { calls, prepareAll } = openQueue({ error })
    const results = await prepareAll('a', 'bad')
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(calls).toHaveLength(1)
  })

  it('take turns with chunks to analyse, each call alone', async () => {
    const gate = createGate()
    const { calls, queue, prepareAll } = openQueue({ before: gate.pass })
    const first = prepareAll('a')
    await gate.reached
    const chunks = queue.analyse([{ title: undefined, heading: '', text: 'p' }])
    const second = prepareAll('b')
    expect(calls).toEqual([['a']])
    gate.open()
    await Promise.all([first, chunks, second])
    expect(calls).toEqual([['a'], ['p'], ['b']])
  })

  it('leave when their signal is aborted', async () => {
    const gate = createGate()
    const { calls, queue } = openQueue({ before: gate.pass })
    const first = queue.prepare(segment('a'))
    await gate.reached
    const leaving = new AbortController()
    const second = queue.prepare(segment('b'), leaving.signal)
    leaving.abort(new Error('left'))
    await expect(second).rejects.toThrow('left')
    gate.open()
    await first
    await queue.prepare(segment('c'))
    expect(calls).toEqual([['a'], ['c']])
  })

  it('are refused when too many wait, and when the queue is closed', async () => {
    const gate = createGate()
    const { queue } = openQueue({ before: gate.pass })
    const first = queue.prepare(segment('a'))
    await gate.reached
    const waiting = Array.from({ length: 1_024 }, () => queue.prepare(segment('b')))
    const rejections = Promise.allSettled(waiting)
    await expect(queue.prepare(segment('c'))).rejects.toMatchObject({ code: 'queue_full' })
    queue.close()
    expect(new Set((await rejections).map(({ status }) => status))).toEqual(new Set(['rejected']))
    await expect(queue.prepare(segment('d'))).rejects.toMatchObject({ code: 'shutting_down' })
    gate.open()
    await first
  })
})
