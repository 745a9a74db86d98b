import { expect, it } from 'vitest'
import { fenced } from '../../../src/services/extraction/extracted.ts'
import { splitText } from '../../../src/services/ingestion/split/split-text.ts'

it('Code becomes a block that names its language', () => {
  expect(fenced('let a = 1\n\n', 'js')).toBe('```js\nlet a = 1\n```\n')
})

it.each([
  ['```', '````'],
  ['`````', '``````'],
])('A fence within code, %s, is outdone by a longer one', (within, fence) => {
  const text = fenced(`# Usage\n${within}\ncode\n${within}`, 'md')
  expect(text.startsWith(`${fence}md\n`)).toBe(true)
  expect(text.endsWith(`\n${fence}\n`)).toBe(true)
})

it('A comment in code is not taken for a heading', () => {
  const [chunk] = splitText(fenced('# Counts birds\ncount = 0', 'py'))
  expect(chunk).toMatchObject({ heading: '', text: expect.stringContaining('# Counts birds') })
})
