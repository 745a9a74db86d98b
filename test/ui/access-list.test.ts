import { expect, it } from 'vitest'
import { loadComponents } from './render.ts'

interface Draft {
  entries: { value: readonly string[] }
  kind: { value: string }
  typed: { value: string }
}

interface Exports {
  AccessList(properties: { legend: string; draft: Draft }): unknown
  entriesOf(draft: Draft): string[]
  principalName(entry: string): string
}

const ui = await loadComponents<Exports>('parts/access-list.tsx')

const draftOf = (entries: readonly string[], kind = 'user', typed = ''): Draft => ({
  entries: { value: entries },
  kind: { value: kind },
  typed: { value: typed },
})

it.each([
  ['user:ada', 'ada'],
  ['user:https://id.example/ada', 'https://id.example/ada'],
  ['group:a:b', 'Group a:b'],
  ['public', 'Everybody who has signed in'],
])('The entry %s of a list of access is %s in words', (entry, words) => {
  expect(ui.principalName(entry)).toBe(words)
})

it.each([
  ['nothing', draftOf(['user:ada']), ['user:ada']],
  ['a person', draftOf(['user:ada'], 'user', ' bob '), ['user:ada', 'user:bob']],
  ['a group', draftOf([], 'group', 'sales'), ['group:sales']],
  ['everybody', draftOf(['user:ada'], 'public'), ['user:ada', 'public']],
  ['an entry that is there', draftOf(['user:ada'], 'user', 'ada'), ['user:ada']],
])('A list of access that is saved with %s typed has it', (_case, draft, entries) => {
  expect(ui.entriesOf(draft)).toEqual(entries)
})

it('A list of access shows whom it includes, and takes more until it is full', () => {
  const draw = (draft: Draft) => ui.render(ui.AccessList, { legend: 'Readers', draft })
  const few = draw(draftOf(['group:sales', 'public'], 'user', 'bob'))
  expect(few).toContain('aria-label="Remove Group sales"')
  expect(few).toContain('aria-label="Remove Everybody who has signed in"')
  expect(few).not.toMatch(/<button[^>]*disabled/)
  const full = Array.from({ length: 50 }, (_, n) => `user:${n}`)
  expect(draw(draftOf(full, 'user', 'bob'))).toMatch(/<button[^>]*disabled/)
})
