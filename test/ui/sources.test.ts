import { expect, it } from 'vitest'
import { loadComponents } from './render.ts'

interface Exports {
  citedHits(turn: object): { number: number }[]
  withSources(turn: object): string
}

const { citedHits, withSources } = await loadComponents<Exports>('chat/export.ts')

const hits = [
  { documentId: 'd1', title: 'Owls', text: 'Owls hoot.', start: 0, url: 'https://a.example/owls' },
  { documentId: 'd2', text: 'Larks sing.', start: 0, page: 4 },
  { documentId: 'd3', title: 'Bats', text: 'Bats fly.', start: 0 },
]
const turn = (answer: string) => ({ answer, hits, citations: [] })

it('An answer is saved with the sources that it cites, each once, under their numbers', () => {
  expect(withSources(turn('Larks sing [2]. Owls hoot [1], they do [1].'))).toBe(
    'Larks sing [2]. Owls hoot [1], they do [1].\n\nSources:\n\n[1] Owls, <https://a.example/owls>\n[2] d2, page 4',
  )
})

it('An answer without sources is saved as it is', () => {
  expect(withSources(turn('I do not know [9].'))).toBe('I do not know [9].')
})

it('The pages of a source are those that are quoted', () => {
  const citations = [{ number: 2, quotes: [{ text: 'Larks', page: 5 }] }]
  expect(withSources({ ...turn('Yes [2].'), citations })).toContain('[2] d2, page 5')
})

it('Only the hits that are cited count', () => {
  expect(citedHits(turn('Bats [3], owls [1].')).map(({ number }) => number)).toEqual([1, 3])
})
