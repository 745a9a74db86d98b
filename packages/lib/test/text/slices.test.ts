import { createRest, piecesOf } from '@agent-server/lib/text/slices.ts'
import { expect, it } from 'vitest'

it.each([
  ['nothing', ''],
  ['words', 'some words '.repeat(20_000)],
  ['one word', 'x'.repeat(200_000)],
  ['pairs of surrogates', `x${'\u{1F9A6}'.repeat(100_000)}`],
])('A text of %s is the same in pieces', (_what, text) => {
  const pieces = [...piecesOf(text)]
  expect(pieces.join('')).toBe(text)
  expect(pieces.every((piece) => piece.length <= 65_536 && piece.isWellFormed())).toBe(true)
})

it('Words are not cut where there is white space', () => {
  const words = [...piecesOf('some words '.repeat(20_000))].flatMap((piece) => piece.match(/\w+/g))
  expect(new Set(words)).toEqual(new Set(['some', 'words']))
})

it('Long work lets others have a turn, and stops with its caller', async () => {
  const leaving = new AbortController()
  const rest = createRest(leaving.signal)
  let turns = 0
  const timer = setInterval(() => {
    turns += 1
    if (turns === 3) leaving.abort(new Error('gone'))
  }, 1)
  const work = async () => {
    for (;;) await rest()
  }
  await expect(work()).rejects.toThrow('gone')
  clearInterval(timer)
})
