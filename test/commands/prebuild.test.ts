import { matchesGlob } from 'node:path'
import { expect, it } from 'vitest'
import { MODULES } from '../../src/commands/prebuild.ts'
import { sourceFiles } from '../support/source-tree.ts'

it('What jobs are made of is compiled for them', () => {
  const jobs = sourceFiles('src').flatMap(({ path, text }) => {
    const modules = text.matchAll(/module: new URL\('(\.\/[^']+)', import\.meta\.url\)/g)
    return [...modules].map(([, module]) => new URL(module ?? '', `file:///${path}`).pathname)
  })
  expect(jobs.length).toBeGreaterThan(5)
  const isCompiled = (path: string) => MODULES.some((each) => matchesGlob(path, `/src/${each}`))
  expect(jobs.filter((path) => !isCompiled(path))).toEqual([])
})
