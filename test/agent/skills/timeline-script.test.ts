import { readFile } from 'node:fs/promises'
import { SandboxLimits, type SandboxSession } from '@agent-server/sandboxes'
import { beforeAll, describe, expect, it } from 'vitest'
import { createEmbeddedSandbox } from '../../../packages/sandboxes/src/embedded/embedded-sandbox.ts'

const SCRIPT = new URL('../../../skills/timeline/scripts/sort_events.py', import.meta.url)
const { signal } = new AbortController()

/** Of the sandbox that comes with the server. */
let session: SandboxSession
beforeAll(async () => {
  const sandbox = createEmbeddedSandbox({ limits: SandboxLimits.parse({}) })
  session = await sandbox.open(signal)
  return sandbox.close
})

/** Runs the script of the skill. */
async function sort(events: unknown) {
  const code = await readFile(SCRIPT, 'utf8')
  return session.run({ code, stdin: JSON.stringify(events) }, signal)
}

describe('the script of the skill "timeline"', () => {
  it('sorts days, months, years, ranges and what was calculated, the unknown last', async () => {
    const { stdout, exitCode } = await sort([
      { date: '?', event: 'unknown' },
      { date: '2024-05', event: 'month', source: 2 },
      { date: '~2024-05-03/2024-06', event: 'range', source: 4 },
      { date: '2023', event: 'year', source: 1 },
      { date: '2024-02-29', event: 'day', source: 3 },
    ])
    expect(exitCode).toBe(0)
    expect(stdout.match(/(?<=\| )(?:unknown|month|range|year|day)(?= \|)/g)).toEqual([
      'year',
      'day',
      'month',
      'range',
      'unknown',
    ])
    expect(stdout).toContain('| 2024-02-29 | day | [3] |')
  })

  it('tells overlaps and gaps', async () => {
    const { stdout } = await sort([
      { date: '2024-01-01/2024-01-20', event: 'a', source: 1 },
      { date: '2024-01-10', event: 'b', source: 2 },
      { date: '2024-03-10', event: 'c', source: 3 },
    ])
    expect(stdout).toContain('Overlap: a / b')
    expect(stdout).toContain('Gap of 60 days between: b / c')
  })

  it('names a date that is none', async () => {
    const { stderr, exitCode } = await sort([{ date: '2024-13', event: 'a' }])
    expect(exitCode).not.toBe(0)
    expect(stderr).toContain("Not a date: '2024-13'")
  })
})
