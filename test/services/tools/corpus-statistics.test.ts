import { describe, expect, it } from 'vitest'
import {
  createDuplicates,
  createTermStatistics,
} from '../../../src/services/tools/corpus-statistics.ts'
import { onlyLong } from '../../support/long.ts'

describe('The statistics of terms', () => {
  it('count words, and the documents that they are in', () => {
    const statistics = createTermStatistics((word) => word === 'the')
    statistics.add('The owl and the Owl; OWL-like.')
    statistics.add('An owl, überall.')
    expect(statistics.top(3)).toEqual([
      { term: 'owl', occurrences: 3, documents: 2 },
      { term: 'and', occurrences: 1, documents: 1 },
      { term: 'owl-like', occurrences: 1, documents: 1 },
    ])
  })

  it('take words of any script, but none of one or two letters', () => {
    const statistics = createTermStatistics(() => false)
    statistics.add('Привет a bc 123 日本語の')
    expect(statistics.top(9).map(({ term }) => term)).toEqual(['привет', '日本語の'].toSorted())
  })

  const letters = (n: number) =>
    n.toString(26).replaceAll(/\d/g, (digit) => 'qrstuvwxyz'[Number(digit)] ?? '')

  it('stay within their bound where each word is said twice', () => {
    const statistics = createTermStatistics(() => false)
    statistics.add('owls '.repeat(9))
    const words = Array.from({ length: 210_000 }, (_, n) => `w${letters(n)}`)
    statistics.add([...words, ...words].join(' '))
    expect(statistics.top(1)).toEqual([{ term: 'owls', occurrences: 9, documents: 1 }])
    expect(statistics.top(1_000_000).length).toBeLessThanOrEqual(200_000)
  })

  it('stay within their bound', onlyLong, () => {
    const statistics = createTermStatistics(() => false)
    statistics.add('owls owls owls')
    for (let start = 0; start < 300_000; start += 50_000) {
      statistics.add(Array.from({ length: 50_000 }, (_, n) => `w${letters(start + n)}`).join(' '))
    }
    expect(statistics.top(1)).toEqual([{ term: 'owls', occurrences: 3, documents: 1 }])
    expect(statistics.top(1_000_000).length).toBeLessThanOrEqual(200_000)
  })
})

describe('Duplicates', () => {
  it('are texts that differ in case, space and punctuation alone', () => {
    const duplicates = createDuplicates()
    duplicates.add('a', 'Hello, World!')
    duplicates.add('b', 'hello\n  world')
    duplicates.add('c', 'Hello worlds')
    duplicates.add('d', 'ＨＥＬＬＯ world')
    expect(duplicates.groups()).toEqual([['a', 'b', 'd']])
  })

  it('are none among different texts', () => {
    const duplicates = createDuplicates()
    for (const text of ['a', 'b', 'c']) duplicates.add(text, text)
    expect(duplicates.groups()).toEqual([])
  })
})
