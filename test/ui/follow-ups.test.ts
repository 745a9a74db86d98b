import { expect, it } from 'vitest'
import type { Citation, Hit } from '../../packages/client/src/agent-server.ts'
import { followUps } from '../../ui/chat/follow-ups.ts'

const CHAPTERS =
  '# Hours\n\nThe library opens at ten.\n\n# Fees\n\nA card costs 4 euros.\n\n# Staff'

const hit = (id: string, more: Partial<Hit>): Hit => ({
  id,
  score: 1,
  text: '',
  title: id,
  documentId: id,
  start: 0,
  end: 10,
  ...more,
})

/** A citation of the first hit, whose quote begins here. */
const citing = (text: string, part: string): Citation[] => {
  const start = text.indexOf(part)
  const quotes = [{ text: part, start, end: start + part.length }]
  return [{ number: 1, at: 0, by: 'model', quotes }]
}

const follow = (question: string, hits: Hit[], citations: Citation[] = [], asked: string[] = []) =>
  followUps({ question, hits, citations }, asked)

it('asks about the chapters that were found, but not about the one that the answer is from', () => {
  const hits = [hit('Handbook', { text: CHAPTERS })]
  expect(follow('When?', hits, citing(CHAPTERS, 'The library opens'))).toEqual([
    'What does “Handbook” say about “Fees”?',
    'What does “Handbook” say about “Staff”?',
  ])
})

it('asks about other documents that were found, three questions at most', () => {
  const hits = ['A', 'B', 'C', 'D', 'E'].map((id) => hit(id, { text: 'Words.' }))
  expect(follow('Why?', hits, citing('Words.', 'Words.'))).toEqual([
    'What does “B” say?',
    'What does “C” say?',
    'What does “D” say?',
  ])
})

it('asks nothing that was asked, that is withheld, or that is no chapter', () => {
  const hits = [
    hit('A', { text: 'Words.', heading: 'Part > Fees' }),
    hit('B', { text: '', title: '' }),
    hit('C', { text: 'x: 1', heading: 'Day | Opens', row: 4 }),
    hit('D', { text: '```sh\n# no heading\n```', heading: `A ${'very '.repeat(20)}long one` }),
  ]
  expect(follow('What about fees?', hits, citing('Words.', 'Words.'))).toEqual([
    'What does “C” say?',
    'What does “D” say?',
  ])
  expect(follow('Else?', hits, [], ['What does “A” say about “Fees”?'])).toEqual([
    'What does “C” say?',
    'What does “D” say?',
  ])
  expect(follow('Nothing found?', [])).toEqual([])
})
