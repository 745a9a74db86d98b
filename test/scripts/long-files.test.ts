import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { longFiles, MODULE_TAG, namesFiles } from '../support/long-files.ts'

describe('A test file that is long as a whole', () => {
  it('is known by its first line', () => {
    expect(longFiles()).toContain('test/e2e/crash.test.ts')
    expect(longFiles()).not.toContain('test/scripts/long-files.test.ts')
  })

  it('is run by .ci/run', async () => {
    expect(await readFile('.ci/run', 'utf8')).toContain(`|${MODULE_TAG.slice('// '.length)}|`)
  })

  // The short form would skip the first cases, and the long form leave them out.
  it('has all of its cases in the long form, as has whatever else is long alone', async () => {
    const FIRST_CASES = /[^.\w](?:it|describe)\.each\(someOf\(/
    const ONLY =
      /describe(?:\.\w+\([^)]*\))?\([^\n]*\bonlyLong\b|someOf\([^;]{0,200}?\)\)\(\s*(['"`])[^\n]*\1,\s*onlyLong\b/
    const paths = globSync('{test,packages/*/test}/**/*.test.ts', { exclude: ['**/node_modules'] })
    const long = longFiles()
    const texts = await Promise.all(
      paths.map(async (path) => ({ path, text: await readFile(path, 'utf8') })),
    )
    const lost = texts.filter(
      ({ path, text }) =>
        FIRST_CASES.test(text) && (long.includes(path.replaceAll('\\', '/')) || ONLY.test(text)),
    )
    expect(lost.map(({ path }) => path)).toEqual([])
  })

  it.each([[[]], [['packages/search']], [['--coverage', 'test/e2e']]])(
    'is left out of a run of %j',
    (parameters) => expect(namesFiles(parameters)).toBe(false),
  )

  it.each([[['test/e2e/crash.test.ts']], [['-t', 'kills', 'crash']]])(
    'is part of a run of %j',
    (parameters) => expect(namesFiles(parameters)).toBe(true),
  )
})
