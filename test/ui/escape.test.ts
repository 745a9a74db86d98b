import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { ROOT } from '../support/source-tree.ts'

it('One place hears Escape, so that one press closes one thing, and frames tell it', () => {
  const sources = globSync('ui/**/*.{ts,tsx}', { cwd: ROOT })
  const hearing = sources.filter((path) =>
    /(['"`])Escape\1/.test(readFileSync(new URL(path, ROOT), 'utf8')),
  )
  expect(sources.length).toBeGreaterThan(100)
  expect(hearing.toSorted()).toEqual(['ui/parts/escape.ts', 'ui/preview/frame.ts'])
})
