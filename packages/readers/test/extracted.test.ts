import { scanBlocks } from '@agent-server/lib/markdown/blocks.ts'
import { describe, expect, it } from 'vitest'
import {
  createBoundedText,
  toCodeBlock,
  toMarkdownTable,
  withPageBreaks,
} from '../src/extracted.ts'

describe('A bounded text', () => {
  it('is what was added, in order', () => {
    const text = createBoundedText()
    expect([text.length, text.toString()]).toEqual([0, ''])
    text.add('one ')
    text.add('')
    text.add('two')
    expect([text.length, text.toString()]).toEqual([7, 'one two'])
  })

  it('may be as long as the most, and no longer', () => {
    const text = createBoundedText(5)
    text.add('12345')
    expect(text.toString()).toBe('12345')
    expect(() => text.add('6')).toThrow(expect.objectContaining({ code: 'text_too_long' }))
  })

  it('holds fifty million characters at most, and says so', () => {
    const text = createBoundedText()
    const million = 'x'.repeat(1_000_000)
    for (let i = 0; i < 50; i++) text.add(million)
    expect(() => text.add('x')).toThrow(/more than 50 million characters/)
  })
})

it('Code becomes a block that names its language', () => {
  expect(toCodeBlock('let a = 1\n\n', 'js')).toBe('```js\nlet a = 1\n```\n')
})

it.each([
  ['```', '````'],
  ['`````', '``````'],
])('A fence within code, %s, is outdone by a longer one', (within, fence) => {
  const text = toCodeBlock(`# Usage\n${within}\ncode\n${within}`, 'md')
  expect(text.startsWith(`${fence}md\n`)).toBe(true)
  expect(text.endsWith(`\n${fence}\n`)).toBe(true)
})

it('A comment in code is not taken for a heading', () => {
  expect([...scanBlocks(toCodeBlock('# Counts birds\ncount = 0', 'py'))]).toMatchObject([
    { kind: 'code' },
  ])
})

describe('A text of several pages', () => {
  it('has a form feed between them, from where the next one begins', () => {
    const { text, pageStarts } = withPageBreaks({
      text: 'One.\n\nThree.\n\n# Four\n',
      pageStarts: [0, 6, 6, 14],
    })
    expect(text).toBe('One.\n\n\f\n\f\nThree.\n\n\f\n# Four\n')
    expect(pageStarts?.map((start) => text.slice(start, start + 2))).toEqual([
      'On',
      '\f\n',
      'Th',
      '# ',
    ])
  })

  it('has none where the file has no pages, or one', () => {
    expect(withPageBreaks({ text: 'a\n\nb' })).toEqual({ text: 'a\n\nb' })
    expect(withPageBreaks({ text: 'a', pageStarts: [0] })).toEqual({ text: 'a', pageStarts: [0] })
  })
})

it('Rows are a table of Markdown, a line each', () => {
  expect(toMarkdownTable([['a', 'b'], ['1\n2', 'x|y'], ['3']])).toBe(
    '| a | b |\n| --- | --- |\n| 1 2 | x/y |\n| 3 |',
  )
})
