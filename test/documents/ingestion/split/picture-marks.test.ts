import { expect, it } from 'vitest'
import { splitText } from '../../../../src/documents/ingestion/split/split-text.ts'

it('A mark of a picture is a chunk of its own, which repeats nothing and is not extended', () => {
  const text = '# Owls\n\nThey hunt.\n\n[Picture 1 on page 2]\n\n[Picture 2 on page 2]\n\nEnd.'
  const chunks = splitText(text)
  expect(chunks.map((chunk) => chunk.text)).toEqual([
    '# Owls\n\nThey hunt.',
    '[Picture 1 on page 2]',
    '[Picture 2 on page 2]',
    'End.',
  ])
  for (const { text: own, start, end } of chunks) expect(text.slice(start, end)).toBe(own)
  expect(chunks[1]?.heading).toBe('Owls')
})
