import { expect, it } from 'vitest'
import { loadComponents } from './render.ts'

interface Exports {
  namesToChoose(listed: readonly { name: string; documents: number }[], chosen: string): string[]
}

const { namesToChoose } = await loadComponents<Exports>('collections/collections.ts')
const of = (...names: string[]) => names.map((name) => ({ name, documents: 1 }))

it.each([
  ['no documents', of(), '', []],
  ['documents of the default collection alone', of('default'), '', []],
  ['a collection beside the default one', of('default', 'hr'), '', ['default', 'hr']],
  ['no document in the default collection', of('hr'), '', ['hr']],
  ['a chosen one whose documents are gone', of('default'), 'hr', ['default', 'hr']],
])('With %s the names to choose among are those that there are', (_case, listed, chosen, names) => {
  expect(namesToChoose(listed, chosen)).toEqual(names)
})
