import { describe, expect, it } from 'vitest'
import type { Hit } from '../../../src/schemas/query.ts'
import { joinNeighbours } from '../../../src/services/agent/citations.ts'

const DOCUMENT =
  'Owls hunt at night. They fly without a sound.\n\nTheir ears are uneven. So they hear.'

/** The chunk of `DOCUMENT` between two places. */
function chunkOf(ordinal: number, start: number, end: number, fields: Partial<Hit> = {}): Hit {
  return {
    id: `doc_owls-1-${ordinal}`,
    score: 10 - ordinal,
    text: DOCUMENT.slice(start, end),
    title: 'Owls',
    documentId: 'doc_owls',
    ...{ start, end },
    ...fields,
  }
}

const hunt = chunkOf(0, 0, 19)
const fly = chunkOf(1, 20, 45)
const ears = chunkOf(2, 47, 69)
const flyAgain = chunkOf(2, 20, 69)

describe('neighbouring hits', () => {
  it('become one with the text between their ends, in the place and with the name of the best', () => {
    const other = { ...hunt, id: 'doc_else-1-0', documentId: 'doc_else' }
    expect(joinNeighbours([other, ears, fly])).toEqual([
      other,
      {
        ...ears,
        text: DOCUMENT.slice(20, 69),
        start: 20,
        end: 69,
        chunkIds: ['doc_owls-1-1', 'doc_owls-1-2'],
      },
    ])
  })

  it('say once what both hold', () => {
    const [joined] = joinNeighbours([fly, flyAgain])
    expect(joined).toMatchObject({ text: DOCUMENT.slice(20, 69), start: 20, end: 69 })
  })

  it('of which three follow each other are joined in the order of the document', () => {
    const [joined, ...others] = joinNeighbours([fly, ears, hunt])
    expect(others).toEqual([])
    expect(joined).toMatchObject({ id: fly.id, score: fly.score, start: 0, end: 69 })
    expect(joined?.text).toHaveLength(69)
    expect(joined?.text.replaceAll(/\s/g, ' ')).toBe(DOCUMENT.slice(0, 69).replaceAll(/\s/g, ' '))
  })

  it('are told by the headings of the first, which stand above the rest', () => {
    const under = { ...fly, heading: 'Flight' }
    expect(joinNeighbours([{ ...ears, heading: 'Ears' }, under])[0]?.heading).toBe('Flight')
    expect(joinNeighbours([{ ...ears, heading: 'Ears' }, fly])[0]).not.toHaveProperty('heading')
  })

  it('are not joined to more than a citation can point at', () => {
    const long = Array.from({ length: 4 }, (_, ordinal) =>
      chunkOf(ordinal, ordinal * 2_000, (ordinal + 1) * 2_000, { text: 'x'.repeat(2_000) }),
    )
    expect(joinNeighbours(long).map(({ start, end }) => [start, end])).toEqual([
      [0, 4_000],
      [4_000, 8_000],
    ])
  })
})

describe('hits', () => {
  it.each<[string, Hit, Hit]>([
    ['with a chunk between them', hunt, ears],
    ['of different documents', hunt, { ...fly, id: 'doc_b-1-1', documentId: 'doc_b' }],
    ['of different revisions', hunt, { ...fly, id: 'doc_owls-2-1' }],
    ['with much blank between them', hunt, { ...fly, start: 40, end: 65 }],
    ['whose text is not the document’s own', hunt, { ...fly, text: 'Something else.' }],
    ['whose names tell no place', { ...hunt, id: 'a' }, { ...fly, id: 'b' }],
  ])('%s stay apart', (_case, a, b) => {
    expect(joinNeighbours([a, b])).toEqual([a, b])
  })

  it('that are none stay none', () => {
    expect(joinNeighbours([])).toEqual([])
  })
})
