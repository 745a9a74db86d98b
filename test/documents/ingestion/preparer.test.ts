import { AppError } from '@agent-server/lib/errors.ts'
import { createAnalyser } from '@agent-server/search'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { SegmentText } from '../../../src/documents/ingestion/prepare-thread.ts'
import {
  createPrepareQueue,
  createPreparer,
  type PreparerOptions,
} from '../../../src/documents/ingestion/preparer.ts'
import { PreparationError } from '../../../src/documents/ingestion/retry-policy.ts'
import { splitText } from '../../../src/documents/ingestion/split/split-text.ts'
import { processorMs } from '../../support/processor-time.ts'
import { countThreads } from '../../support/threads.ts'
import { createGate } from './ingestion-parts.ts'
import { randomText, seededRandom } from './random-text.ts'

const GENEROUS = 20_000

function openPreparer(options: Partial<PreparerOptions> = {}) {
  const preparer = createPreparer({
    language: 'english',
    deadlineMs: GENEROUS,
    ...options,
  })
  onTestFinished(() => preparer.close())
  return preparer
}

const TEXT = `# Ships\n\nAbout ships.\n\n${'## Sails\n\nSails are made of cloth. They tear. '.repeat(60)}`

describe('preparing a document', () => {
  it('answers the passages of the splitter with the terms of the analyser', async () => {
    const { chunks, terms } = await openPreparer().prepare({ title: 'Boats', text: TEXT })
    expect(chunks).toEqual(splitText(TEXT))
    expect(chunks.length).toBeGreaterThan(1)
    const titled = chunks.map((chunk) => ({ title: 'Boats', ...chunk }))
    expect(terms).toEqual(createAnalyser('english').batch(titled))
  })

  it('gives each of many documents its own passages', async () => {
    const preparer = openPreparer()
    const texts = Array.from(
      { length: 150 },
      (_, seed) => `x ${randomText(seededRandom(seed), 200)}`,
    )
    const prepared = await Promise.all(
      texts.map((text) => preparer.prepare({ title: undefined, text })),
    )
    expect(prepared.map(({ chunks }) => chunks)).toEqual(texts.map((text) => splitText(text)))
  })

  it('makes no chunks of a text without anything but blanks, and some of those beside it', async () => {
    const preparer = openPreparer()
    const texts = ['some', ' \n ', 'more']
    const prepared = await Promise.all(
      texts.map((text) => preparer.prepare({ title: 'Title', text })),
    )
    expect(prepared.map(({ chunks }) => chunks.length)).toEqual([1, 0, 1])
  })

  it('ends its thread where there is no work, and begins another', async () => {
    const before = countThreads()
    const preparer = openPreparer({ idleMs: 20 })
    const [first] = (await preparer.prepare({ title: 'Boats', text: TEXT })).chunks
    await expect.poll(countThreads).toBeLessThanOrEqual(before)
    expect((await preparer.prepare({ title: 'Boats', text: TEXT })).chunks[0]).toEqual(first)
  })

  it('goes on where the piece before it ended', async () => {
    const preparer = openPreparer()
    const first = await preparer.prepare({ title: 'Boats', text: TEXT })
    expect(first.chunks).toEqual(splitText(TEXT))
    const { context } = first
    const blank = await preparer.prepare({ title: 'Boats', text: ' \n', context })
    expect(blank).toMatchObject({ chunks: [], context })
    const next = await preparer.prepare({ title: 'Boats', text: 'More.', context })
    expect(next.chunks).toEqual([{ text: 'More.', heading: 'Ships > Sails', start: 0, end: 5 }])
  })

  it('keeps the event loop free', async () => {
    const preparer = openPreparer()
    await preparer.prepare({ title: undefined, text: 'warm' })
    const begun = performance.now()
    const used = processorMs()
    const preparation = preparer.prepare({ title: undefined, text: TEXT.repeat(1_000) })
    await new Promise(setImmediate)
    const turn = processorMs() - used
    await preparation
    expect(turn).toBeLessThan((performance.now() - begun) / 2)
  })
})

describe('a document that takes too long', () => {
  it('fails alone: those around it are prepared, in a new thread where need be', async () => {
    const preparer = openPreparer({ deadlineMs: 1_000 })
    const huge = preparer.prepare({ title: undefined, text: hugeText() })
    const next = preparer.prepare({ title: undefined, text: 'small' })
    await expect(huge).rejects.toMatchObject({ code: 'preparation_timeout' })
    expect((await next).chunks).toHaveLength(1)
  })
})

describe('a document that takes too much memory', () => {
  it('fails alone: those around it are prepared, in a new thread', async () => {
    const preparer = openPreparer({ heapMegabytes: 16 })
    // A single thing of more than 16 MB would end the whole process: V8 lets a thread go so far past its limit.
    const huge = preparer.prepare({ title: undefined, text: hugeText(130) })
    const next = preparer.prepare({ title: undefined, text: 'small' })
    await expect(huge).rejects.toMatchObject({
      code: 'preparation_crashed',
      message: 'Splitting and analysing the document took too much memory',
    })
    expect((await next).chunks).toHaveLength(1)
  })
})

describe('analysing passages', () => {
  it('answers what the analyser makes of them', async () => {
    const chunks = [
      { title: 'Boats', heading: 'Sails', text: 'Cloth.' },
      { title: undefined, heading: '', text: 'Wood and nails.' },
    ]
    expect(await openPreparer().analyse(chunks)).toEqual(createAnalyser('english').batch(chunks))
  })
})

describe('a closed preparer', () => {
  it('refuses what comes and ends what is under way', async () => {
    const preparer = openPreparer()
    const underWay = preparer.prepare({ title: undefined, text: TEXT.repeat(1_000) })
    const rejected = expect(underWay).rejects.toThrow()
    await preparer.close()
    await rejected
    await expect(preparer.prepare({ title: undefined, text: 'late' })).rejects.toMatchObject({
      code: 'shutting_down',
    })
  })
})

/** Far more than is analysed in a second, or held in a small heap. */
/** Of `times` times 99 kB. */
function hugeText(times = 400): string {
  const words = Array.from({ length: 10_000 }, (_, word) => (word * 2_654_435_761).toString(36))
  return `${words.join(' ')} `.repeat(times)
}

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
