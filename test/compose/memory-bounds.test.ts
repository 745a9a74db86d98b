import { readFileSync } from 'node:fs'
import { runJob } from '@agent-server/lib/processes/child-process.ts'
import { JobExhausted } from '@agent-server/lib/processes/job.ts'
import { EMBEDDING } from '@agent-server/models'
import { FILLING, RENDERING } from '@agent-server/office-tools'
import { READING } from '@agent-server/readers'
import { CONVERSION, QUERY } from '@agent-server/tables'
import { expect, it } from 'vitest'
import { onlyLong } from '../support/long.ts'
import { peakMegabytes } from '../support/peak-megabytes.ts'
import { ROOT } from '../support/source-tree.ts'

const [, section = ''] = readFileSync(new URL('docs/guides/operations.md', ROOT), 'utf8').split(
  '### Memory',
)
const rows = new Map(
  [...section.matchAll(/^\| ([^|]+) \| (\d+)/gm)].map(([, name = '', most]) => [
    name,
    Number(most),
  ]),
)
const LIMITS = [
  ['query of a table', QUERY],
  ['conversion of a document into a table', CONVERSION],
  ['drawing of a chart', RENDERING],
  ['reading or filling of a form', FILLING],
  ['reading of a file', READING],
  ['built-in embedding model', EMBEDDING],
] as const

it.each(LIMITS)('docs/guides/operations.md has the limit of the memory: %s', (name, limits) => {
  expect(rows.get(name)).toBe(limits.residentMegabytes)
})

const HOARD = {
  module: new URL('packages/lib/test/processes/answering-job.ts', ROOT),
  run: 'doWhatIsAsked',
}

it.each(LIMITS)(
  'A process that takes all it can stays about there: %s',
  onlyLong,
  async (name, limits) => {
    const job = { task: name, ...limits, ...HOARD, deadlineMs: 60_000 }
    const ended = runJob(job, { what: 'hoard at once' }, new AbortController().signal)
    const { result, megabytes } = await peakMegabytes(ended.catch((error: unknown) => error))
    expect(result).toBeInstanceOf(JobExhausted)
    // Those that the system does not hold may grow between two looks.
    expect(megabytes).toBeLessThan(
      limits.residentMegabytes * ('mappedMegabytes' in limits ? 1.05 : 1.5),
    )
  },
)
