import { describe, expect, it } from 'vitest'
import {
  cutText,
  type Extracted,
  ownPacked,
  packText,
} from '../../../src/services/extraction/extracted.ts'
import { createSources, type Source } from '../../../src/services/ingestion/segments.ts'
import type { IngestionJob } from '../../../src/stores/document-store.ts'

const FILE = { name: 'a.pdf', mediaType: 'application/pdf', size: 3 }
const JOB: IngestionJob = {
  ...{ documentId: 'a', claim: 1, revision: 2, attempt: 1 },
  ...{ title: undefined, url: undefined, metadata: undefined, text: '', file: FILE },
}
const never = () => new AbortController().signal

async function* onePiece() {
  yield Buffer.from('abc')
}

const WARNINGS = [{ code: 'unreadable_pictures', message: 'Left out: page 2' }]

/** `pages` are recognised, one of which cannot be read. */
function sourcesWith(extracted: Extracted, pages = 0) {
  const asked: unknown[] = []
  const noted: unknown[] = []
  const openSource = createSources({
    store: {
      readFile: async (...ids) => {
        asked.push(ids)
        return onePiece()
      },
      noteFile: async ({ claim }, notes) => void noted.push([claim, notes]),
    },
    extractor: {
      async extract(file, { open, onPage }) {
        for (let page = 1; page <= pages; page++) onPage?.(page)
        asked.push(file, Buffer.concat(await Array.fromAsync(await open())).toString())
        return { ...toReadText(extracted), warnings: pages > 0 ? WARNINGS : [] }
      },
    },
  })
  return { openSource, asked, noted }
}

function toReadText({ text, pageStarts }: Extracted) {
  const pieces = Array.from(cutText(text), (piece) => ownPacked(packText(piece)))
  return { pieces, characters: text.length, ...(pageStarts && { pageStarts }) }
}

const textOf = (source: Source) => [...source.pieces()].join('')

describe('The source of a document', () => {
  it('is the text that came with it', async () => {
    const { openSource, asked } = sourcesWith({ text: 'other' })
    const source = await openSource({ ...JOB, text: 'Text.', file: undefined }, never())
    expect(source).toMatchObject({ characters: 5, pageStarts: undefined })
    expect(textOf(source)).toBe('Text.')
    expect(source.close()).toBeUndefined()
    expect(asked).toEqual([])
  })

  it('is what its file says, of the revision that was claimed', async () => {
    const { openSource, asked } = sourcesWith({ text: 'Read.', pageStarts: [0, 2] })
    const source = await openSource(JOB, never())
    expect(source).toMatchObject({ characters: 5, pageStarts: [0, 2] })
    expect(textOf(source)).toBe('Read.')
    expect(asked).toEqual([['a', 2], FILE, 'abc'])
  })

  it('is made fit to be stored without moving a page', async () => {
    const { openSource } = sourcesWith({ text: 'a\0b\uD800c', pageStarts: [0, 4] })
    expect(textOf(await openSource(JOB, never()))).toBe('a b\uFFFDc')
  })

  it('is let go as it is read, piece by piece', async () => {
    const text = 'Eulen jagen nachts — leise. '.repeat(9_000)
    const { openSource } = sourcesWith({ text })
    const source = await openSource(JOB, never())
    expect([...source.pieces()].length).toBeGreaterThan(1)
    expect(textOf(source)).toBe('')
    expect(source.characters).toBe(text.length)
  })

  it('has its reading told with the document, and in the end what could not be read', async () => {
    const { openSource, noted } = sourcesWith({ text: 'Seen.' }, 3)
    await openSource(JOB, never())
    // The others came within a second.
    expect(noted).toEqual([
      [1, { page: 1 }],
      [1, { warnings: WARNINGS }],
    ])
  })

  it('leaves nothing of what an earlier attempt could not read', async () => {
    const { openSource, noted } = sourcesWith({ text: 'Read.' })
    await openSource(JOB, never())
    expect(noted).toEqual([])
    await openSource({ ...JOB, file: { ...FILE, notes: { warnings: WARNINGS } } }, never())
    expect(noted).toEqual([[1, {}]])
  })

  it('is missing where the file is', async () => {
    const openSource = createSources({
      store: { readFile: async () => undefined, noteFile: async () => undefined },
      extractor: {
        async extract(_file, { open }) {
          await open()
          throw new Error('never read')
        },
      },
    })
    await expect(openSource(JOB, never())).rejects.toMatchObject({ code: 'damaged_file' })
  })
})

it('No further file is read while too much text is under way', async () => {
  const { openSource, asked } = sourcesWith({ text: 'x'.repeat(10_000_000) })
  const first = await openSource(JOB, never())
  const second = openSource(JOB, never())
  await new Promise((resolve) => setImmediate(resolve))
  expect(asked).toHaveLength(3)
  first.close()
  expect(textOf(await second)).toHaveLength(10_000_000)
  expect(asked).toHaveLength(6)
})
