import { describe, expect, it } from 'vitest'
import { markdownTables } from '../src/markdown-tables.ts'

const HEAD = '| region | sold |\n| --- | --- |'

describe('The tables of a text', () => {
  it('have their rows, empty cells, and the line above', () => {
    expect(
      markdownTables(`Text\n\n## Sales\n\n${HEAD}\n| north | 1 |\n|  | 2 |\n\nMore | text`),
    ).toEqual([
      {
        notes: ['Sales'],
        head: ['region', 'sold'],
        first: 0,
        rows: [
          ['north', '1'],
          ['', '2'],
        ],
      },
    ])
  })

  it('are one where a page break divides them', () => {
    const text = `${HEAD}\n| north | 1 |\n\n\f\n${HEAD}\n| south | 2 |\n`
    expect(markdownTables(text).map(({ rows }) => rows)).toEqual([
      [
        ['north', '1'],
        ['south', '2'],
      ],
    ])
  })

  it.each([
    ['words', `\n\f\nOther\n\n${HEAD}`],
    ['nothing but lines', `\n\n${HEAD}`],
    ['another head', '\n\f\n| a | b |\n| --- | --- |'],
  ])('stay apart with %s between them', (_what, between) => {
    expect(markdownTables(`${HEAD}\n| north | 1 |\n${between}\n| south | 2 |`)).toHaveLength(2)
  })

  it('are none in other texts', () => {
    expect(markdownTables('| a | b |\n\nNo table: | --- |')).toEqual([])
  })
})
