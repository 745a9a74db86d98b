import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { settingsFiles } from '../../scripts/settings-reference.ts'
import { VARIABLES } from '../../src/variables.ts'
import { ROOT } from '../support/source-tree.ts'

it.each(Object.entries(settingsFiles()))(
  '%s is as npm run settings:reference writes it',
  (file, text) => {
    expect(readFileSync(new URL(file, ROOT), 'utf8')).toBe(text)
  },
)

it('Every variable has a group and a meaning, and the README has the few that most people need', () => {
  expect(
    VARIABLES.filter(
      ({ group, meaning }) => !group || (!meaning.endsWith('.') && !meaning.endsWith('…')),
    ),
  ).toEqual([])
  expect(VARIABLES.filter(({ isCommon }) => isCommon)).toHaveLength(10)
})
