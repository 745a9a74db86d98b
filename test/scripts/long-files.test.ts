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

  it.each([[[]], [['packages/search']], [['--coverage', 'test/e2e']]])(
    'is left out of a run of %j',
    (parameters) => expect(namesFiles(parameters)).toBe(false),
  )

  it.each([[['test/e2e/crash.test.ts']], [['-t', 'kills', 'crash']]])(
    'is part of a run of %j',
    (parameters) => expect(namesFiles(parameters)).toBe(true),
  )
})
