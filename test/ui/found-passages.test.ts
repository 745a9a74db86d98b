import { expect, it } from 'vitest'
import { loadComponents } from './render.ts'

type Component = (properties: never) => unknown

const ui = await loadComponents<{ Sources: Component }>('chat/sources.tsx')

const hits = ['Owls', 'Bats', 'Larks', 'Lynxes'].map((title) => {
  return {
    id: title,
    documentId: title,
    score: 1,
    title,
    heading: 'Food',
    text: '',
    start: 0,
    end: 0,
  }
})
const draw = (turn: object) => ui.render(ui.Sources, { turn: { hits, citations: [], ...turn } })
const titlesIn = (html: string) =>
  Array.from(html.matchAll(/>(\w+)<\/button>/g), ([, title]) => title)

it('An answer that is not in the documents shows the nearest passages', () => {
  const html = draw({ abstained: true, citations: [{ number: 2 }] })
  expect(html).toContain('<details class="settings" open>')
  expect(html).toContain('Not found in your documents. Nearest:')
  expect(titlesIn(html)).toEqual(['Owls', 'Bats', 'Larks', 'Lynxes'])
  expect(html).toContain('Food')
})

it('An answer that cites nothing says so of what was found', () => {
  const html = draw({})
  expect(html).toContain('4 passages found, none cited')
  expect(html).not.toMatch(/Nearest|open/)
})

it('An answer shows what it cites before what was only found', () => {
  const html = draw({ citations: [{ number: 2 }] })
  expect(html).toContain('1 source cited')
  expect(titlesIn(html)).toEqual(['Bats', 'Owls', 'Larks', 'Lynxes'])
})

it('Where nothing was found, there is nothing to show', () => {
  expect(draw({ hits: [], abstained: true })).toBe('')
})
