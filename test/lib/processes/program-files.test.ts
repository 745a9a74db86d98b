import { join, relative, sep } from 'node:path'
import { expect, it } from 'vitest'
import { PROGRAM_FILES } from '../../../src/lib/processes/child-process.ts'
import { ROOT } from '../../support/source-tree.ts'

const root = ROOT.pathname
const holds = (outer: string, inner: string) => !relative(outer, inner).split(sep).includes('..')

it('A process of ours may read the program, and neither the settings nor the data beside it', () => {
  for (const path of ['src/main.ts', 'node_modules/zod/package.json', 'package.json']) {
    expect(PROGRAM_FILES.some((readable) => holds(readable, join(root, path)))).toBe(true)
  }
  for (const path of ['.env', 'data/agent-server.db', 'agent.json', 'skills/briefing/SKILL.md']) {
    expect(PROGRAM_FILES.filter((readable) => holds(readable, join(root, path)))).toEqual([])
  }
})
