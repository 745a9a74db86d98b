import { placeOfJsonMistake, reasonOfJsonMistake } from '@agent-server/lib/text/json.ts'
import { expect, it } from 'vitest'
import { processorMs } from '../../../../test/support/processor-time.ts'

it.each<[string, number, number]>([
  ['{\n  "a": 1,\n}', 3, 1],
  ['{\n  "a": x\n}', 2, 8],
  ['{\n  "a": tru\n}', 2, 11],
  ['{\n  // why\n  "a": 1\n}', 2, 3],
  ['{"a": "b\n"}', 1, 9],
  ['{"a": 1', 1, 8],
  ['{"a": "b', 1, 9],
  ['{"a": 1}}', 1, 9],
  ['{\n"a" 1}', 2, 5],
  ['[1,]', 1, 4],
  ['{"a": undefined}', 1, 7],
  ['', 1, 1],
])('finds the place of the mistake in %j', (text, line, column) => {
  expect(placeOfJsonMistake(text)).toEqual({ line, column })
  try {
    JSON.parse(text)
  } catch (error) {
    expect(reasonOfJsonMistake(error)).not.toMatch(/position|line|"a"/)
  }
})

it('is quick with a large text', () => {
  const text = `{"a": [${'1,'.repeat(20_000)}]}`
  const started = processorMs()
  expect(placeOfJsonMistake(text).column).toBe(text.length - 1)
  expect(processorMs() - started).toBeLessThan(5_000)
})
