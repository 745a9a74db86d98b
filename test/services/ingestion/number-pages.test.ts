import { describe, expect, it } from 'vitest'
import { numberPages } from '../../../src/services/ingestion/segments.ts'

const chunk = (start: number, end: number) => ({ text: '', heading: '', start, end })

/** Four pages, of which the third is empty. */
const STARTS = [0, 100, 250, 250]

describe('A passage', () => {
  it.each([
    ['within the first page', [10, 90], [1, 1]],
    ['of a whole page', [0, 100], [1, 1]],
    ['that begins with a page', [100, 101], [2, 2]],
    ['over two pages', [90, 110], [1, 2]],
    ['over an empty page', [240, 260], [2, 4]],
    ['behind an empty page', [250, 300], [4, 4]],
    ['over all of them', [0, 1_000], [1, 4]],
    ['of a single character', [99, 100], [1, 1]],
    ['of nothing', [100, 100], [2, 2]],
  ])('%s knows its pages', (_case, [start = 0, end = 0], [page, pageEnd]) => {
    expect(numberPages([chunk(start, end)], STARTS)).toMatchObject([{ page, pageEnd }])
  })

  it('keeps all else that is known of it', () => {
    const given = { text: 'Text', heading: 'A > B', start: 3, end: 7 }
    expect(numberPages([given], [0])).toEqual([{ ...given, page: 1, pageEnd: 1 }])
  })

  it('of a text without pages has none', () => {
    const chunks = [chunk(0, 10)]
    expect(numberPages(chunks, undefined)).toEqual(chunks)
  })
})

it('Pages are found among ten thousand', () => {
  const starts = Array.from({ length: 10_000 }, (_, i) => i * 30)
  const chunks = starts.map((start) => chunk(start, start + 30))
  const numbered = numberPages(chunks, starts)
  expect(numbered.map(({ page }) => page)).toEqual(starts.map((_, i) => i + 1))
  expect(numbered.map(({ pageEnd }) => pageEnd)).toEqual(starts.map((_, i) => i + 1))
})
