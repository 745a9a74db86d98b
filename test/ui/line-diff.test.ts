import { expect, it } from 'vitest'
import { diffLines } from '../../ui/admin/line-diff.ts'

const MARKS = { same: ' ', removed: '-', added: '+' }
const diff = (before: string[], after: string[]) =>
  diffLines(before.join('\n'), after.join('\n')).map(({ kind, text }) => MARKS[kind] + text)

it.each<[string, string[], string[], string[]]>([
  ['the same text', ['a', 'b'], ['a', 'b'], [' a', ' b']],
  ['a line added', ['a', 'c'], ['a', 'b', 'c'], [' a', '+b', ' c']],
  ['a line removed', ['a', 'b', 'c'], ['a', 'c'], [' a', '-b', ' c']],
  ['a line changed', ['a', 'b', 'c'], ['a', 'x', 'c'], [' a', '-b', '+x', ' c']],
  ['lines at the end', ['a'], ['a', 'b', 'c'], [' a', '+b', '+c']],
  ['a line that moved', ['a', 'b', 'c'], ['b', 'c', 'a'], ['-a', ' b', ' c', '+a']],
  ['nothing before', [''], ['a'], ['-', '+a']],
])('The lines of %s', (_what, before, after, lines) => {
  expect(diff(before, after)).toEqual(lines)
})

it('The lines of both texts can be read from it, in order', () => {
  const before = Array.from({ length: 60 }, (_, n) => `${(n * 7) % 11}`)
  const after = Array.from({ length: 50 }, (_, n) => `${(n * 5) % 13}`)
  const lines = diffLines(before.join('\n'), after.join('\n'))
  const textOf = (left: string) => lines.filter(({ kind }) => kind !== left).map(({ text }) => text)
  expect(textOf('added')).toEqual(before)
  expect(textOf('removed')).toEqual(after)
})

it('Of long texts the first thousand lines are compared', () => {
  const long = Array.from({ length: 5_000 }, (_, n) => `${n}`).join('\n')
  expect(diffLines(long, long)).toHaveLength(1_000)
})
