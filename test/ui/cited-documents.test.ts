import { expect, it } from 'vitest'
import { loadComponents } from './render.ts'

interface Exports {
  citedDocuments(turn: object): object[]
}

const { citedDocuments } = await loadComponents<Exports>('chat/answer-feedback.tsx')
const hit = (documentId: string, title = '') => ({ id: documentId, documentId, title })

it('Cited documents stand once each, and those whose citations all lack support are doubtful', () => {
  const turn = {
    answer: 'A [1], b [2], c [3], d [4].',
    hits: [hit('owls', 'Owls'), hit('larks'), hit('owls', 'Owls'), hit('bats'), hit('cats')],
    citations: [
      { number: 1, supported: false },
      { number: 2, supported: false },
      { number: 3, supported: true },
      { number: 4, supported: false },
      { number: 4, supported: true },
    ],
  }
  expect(citedDocuments(turn)).toEqual([
    { id: 'owls', title: 'Owls', isDoubtful: false },
    { id: 'larks', title: 'larks', isDoubtful: true },
    { id: 'bats', title: 'bats', isDoubtful: false },
  ])
})
