import { describe, expect, it, onTestFinished } from 'vitest'
import { createAnalyser } from '../../../src/indexes/analyser/analyser.ts'
import { createPreparer, type PreparerOptions } from '../../../src/services/ingestion/preparer.ts'
import { splitText } from '../../../src/services/ingestion/split/split-text.ts'
import { processorMs } from '../../support/processor-time.ts'
import { countThreads } from '../../support/threads.ts'
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
