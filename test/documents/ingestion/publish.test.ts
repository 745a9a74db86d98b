import { AppError } from '@agent-server/lib/errors.ts'
import { everything } from '@agent-server/lib/visibility.ts'
import { describe, expect, it } from 'vitest'
import { long, onlyLong, someOf } from '../../support/long.ts'
import {
  createGate,
  createRunning,
  failingFirst,
  find,
  getDocument,
  keysOf,
  openParts,
  type Parts,
} from './ingestion-parts.ts'

const SECTIONS = 600
const section = (i: number, word = 'owl') =>
  `## Part ${i}\n\n${`In part ${i} the ${word} hunts at night. `.repeat(25)}\n\n`
/** A little more than what is taken whole. */
const longText = (word?: string) =>
  Array.from({ length: SECTIONS }, (_, i) => section(i, word)).join('')

async function* inPieces(text: string) {
  yield Buffer.from(text)
}

async function addFile({ store }: Parts, id: string, text: string) {
  const kept = await store.stageFile(inPieces(text))
  return store.put(everything(), {
    id,
    text: '',
    file: { name: 'a.txt', mediaType: 'text/plain', ...kept },
  })
}

async function ready(parts: Parts, options?: Parameters<typeof createRunning>[1]) {
  const running = createRunning(parts, options)
  await running.start()
  await running.until('ready')
  await running.stop(1_000)
}

describe('a long document', () => {
  it.each(someOf(['file', 'text'], 1))(
    'is found whole, each chunk where it stands: of a %s',
    long,
    async (kind) => {
      const parts = await openParts()
      const text = longText()
      if (kind === 'file') await addFile(parts, 'a', text)
      else await parts.store.add({ id: 'a', text })
      await ready(parts)
      const document = await getDocument(parts, 'a')
      expect(document).toMatchObject({ status: 'ready', characters: text.length })
      expect(document.chunkCount).toBeGreaterThan(SECTIONS / 2)
      const keys = await keysOf(parts)
      expect(keys.known).toHaveLength(document.chunkCount)
      expect(keys.index).toEqual(keys.known)
      const { chunks } = await parts.store.readChunks(everything(), keys.known)
      for (const chunk of chunks) expect(text.slice(chunk.start, chunk.end)).toBe(chunk.text)
      expect(chunks.at(-1)?.text).toContain(`In part ${SECTIONS - 1} `)
      expect(await find(parts, 'part 555')).toContain('a')
    },
  )

  it('tells which chunks it became, so that they get their vectors', async () => {
    const parts = await openParts()
    await parts.store.add({ id: 'a', text: longText() })
    const published: number[] = []
    await ready(parts, { onPublished: (keys) => void published.push(...keys) })
    expect(published).toEqual((await keysOf(parts)).known)
  })

  it('takes the place of an earlier one in one step', onlyLong, async () => {
    const parts = await openParts()
    await addFile(parts, 'a', longText())
    await ready(parts)
    const old = await keysOf(parts)
    await addFile(parts, 'a', longText('heron'))
    await ready(parts)
    const { index, known } = await keysOf(parts)
    expect(index).toEqual(known)
    expect(known.filter((key) => old.known.includes(key))).toEqual([])
    expect(new Set(await find(parts, 'heron'))).toEqual(new Set(['a']))
    expect(await find(parts, 'owl')).toEqual([])
  })

  it('leaves nothing where it is deleted meanwhile', async () => {
    const parts = await openParts()
    await parts.store.add({ id: 'a', text: longText() })
    const gate = createGate()
    const running = createRunning(parts, {
      index: {
        ...parts.index,
        async add(...input) {
          await gate.pass()
          await parts.index.add(...input)
        },
      },
    })
    await running.start()
    await gate.reached
    await parts.store.delete(everything(), 'a')
    gate.open()
    await running.until('superseded')
    expect(await keysOf(parts)).toEqual({ index: [], known: [] })
  })

  it('fails where it holds nothing but blanks', onlyLong, async () => {
    const parts = await openParts()
    await addFile(parts, 'a', ' \n'.repeat(300_000))
    const running = createRunning(parts)
    await running.start()
    await running.until('failed')
    expect(await getDocument(parts, 'a')).toMatchObject({ error: { code: 'empty_document' } })
  })
})

describe('a long document that meets a failure', () => {
  it('of the index is tried again, and leaves no chunk of the first time', onlyLong, async () => {
    const parts = await openParts()
    await parts.store.add({ id: 'a', text: longText() })
    let calls = 0
    const add: Parts['index']['add'] = async (...input) => {
      calls++
      if (calls === 3) throw new Error('out of order')
      await parts.index.add(...input)
    }
    await ready(parts, { index: { ...parts.index, add } })
    const { index, known } = await keysOf(parts)
    expect(index).toEqual(known)
    expect(await getDocument(parts, 'a')).toMatchObject({ attempts: 2 })
  })

  it(
    'of the document store after it has taken the chunks is ready all the same',
    onlyLong,
    async () => {
      const parts = await openParts()
      await parts.store.add({ id: 'a', text: longText() })
      const completeStaged: Parts['store']['completeStaged'] = async (job, kept) => {
        await parts.store.completeStaged(job, kept)
        throw new AppError('store_unavailable', 'not confirmed')
      }
      await ready(parts, { store: { ...parts.store, completeStaged } })
      const { index, known } = await keysOf(parts)
      expect(index).toEqual(known)
    },
  )

  it('of the document store before it has taken them is tried again', onlyLong, async () => {
    const parts = await openParts()
    await parts.store.add({ id: 'a', text: longText() })
    const outage = new AppError('store_unavailable', 'down')
    const completeStaged = failingFirst(1, parts.store.completeStaged, outage)
    await ready(parts, { store: { ...parts.store, completeStaged } })
    const { index, known } = await keysOf(parts)
    expect(index).toEqual(known)
    expect(known.length).toBeGreaterThan(0)
  })
})
