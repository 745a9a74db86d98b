import { expect, it } from 'vitest'
import { typeChoices, typeName } from '../../ui/documents/file-types.ts'

it.each([
  ['application/pdf', 'PDF'],
  ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', 'Word'],
  ['image/webp', 'Image'],
  ['application/x-unknown', 'application/x-unknown'],
])('%s is called %s', (type, name) => {
  expect(typeName(type)).toBe(name)
})

it('The type in an address can be chosen, whether or not it is known', () => {
  const names = (shown: string) => typeChoices(shown).map(([, name]) => name)
  expect(names('application/pdf')).toEqual(names(''))
  expect(names('application/x-unknown')).toEqual([...names(''), 'application/x-unknown'])
})
