import { relative } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { z } from 'zod'
import { ONLY_LONG } from '../test/support/long.ts'

const Report = z.object({
  success: z.boolean(),
  testResults: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      startTime: z.number().default(0),
      endTime: z.number().default(0),
      assertionResults: z.array(
        z.object({
          ancestorTitles: z.array(z.string()),
          title: z.string(),
          status: z.string(),
          tags: z.array(z.string()).default([]),
          failureMessages: z.array(z.string()).default([]),
        }),
      ),
      message: z.string().default(''),
    }),
  ),
})

export interface Outcome {
  passed: number
  failed: number
  skipped: number
  /** Tests that only the long form has; they are not counted as skipped. */
  longOnly: number
  /** Each suite with skipped tests: its file, its titles and how many; the titles say what it needs. */
  skippedSuites: string[]
  /** Each failed test, and each file that could not be run, with its message, shortened. */
  failures: string[]
  /** Each test that passed only when it was run again, with its first message, shortened. */
  unsteady: string[]
  /** The slowest files, each with its seconds. */
  slowest: string[]
}

const MAX_SLOWEST = 10

/** Limits on the message of a failed test: lines, and characters per line. */
const MAX_LINES = 6
const MAX_LINE = 300

/**
 * Reads vitest's JSON report. A file that could not be loaded, and a run that failed for another reason, count as one
 * failure. In a run for a single `tag`, tests without it do not count as skipped.
 */
export function readReport(json: string, root: string, tag?: string): Outcome {
  const { success, testResults } = Report.parse(JSON.parse(json))
  const tests = testResults.flatMap(({ name, assertionResults }) =>
    assertionResults.map((test) => ({ ...test, file: relative(root, name) })),
  )
  const count = (status: string) => tests.filter((test) => test.status === status).length
  const broken = testResults.filter(
    ({ status, assertionResults }) =>
      status === 'failed' && assertionResults.every((test) => test.status !== 'failed'),
  )
  const failed = count('failed') + broken.length
  const [longOnly = [], skipped = []] = [true, false].map((isLong) =>
    tests.filter(
      ({ status, tags }) =>
        status !== 'passed' &&
        status !== 'failed' &&
        (tag === undefined || tags.includes(tag)) &&
        tags.includes(ONLY_LONG) === isLong,
    ),
  )
  const suites = Map.groupBy(skipped, ({ file, ancestorTitles, title }) =>
    [file, ...(ancestorTitles.length > 0 ? ancestorTitles : [title])].join(' > '),
  )
  const describeAll = (described: typeof tests) =>
    described.map(({ file, ancestorTitles, title, failureMessages }) =>
      describe([file, ...ancestorTitles, title].join(' > '), failureMessages.join('\n')),
    )
  return {
    passed: count('passed'),
    failed: failed === 0 && !success ? 1 : failed,
    skipped: skipped.length,
    longOnly: longOnly.length,
    failures: [
      ...describeAll(tests.filter(({ status }) => status === 'failed')),
      ...broken.map(({ name, message }) => describe(relative(root, name), message)),
    ],
    unsteady: describeAll(
      tests.filter(
        ({ status, failureMessages }) => status === 'passed' && failureMessages.length > 0,
      ),
    ),
    skippedSuites: suites
      .entries()
      .map(([suite, { length }]) => `${suite} (${length})`)
      .toArray(),
    slowest: testResults
      .toSorted((a, b) => b.endTime - b.startTime - (a.endTime - a.startTime))
      .slice(0, MAX_SLOWEST)
      .map(({ name, startTime, endTime }) => {
        const seconds = ((endTime - startTime) / 1_000).toFixed(1)
        return `${seconds} s ${relative(root, name)}`
      }),
  }
}

/** Describes a failure in a few lines. */
function describe(test: string, message: string): string {
  const lines = stripVTControlCharacters(message)
    .split('\n')
    .filter((line) => line.trim() !== '')
    .slice(0, MAX_LINES)
  return [test, ...lines.map((line) => `    ${line.trim().slice(0, MAX_LINE)}`)].join('\n')
}

/** The last line of a test run. */
export function closingLine({
  passed,
  failed,
  skipped,
}: Pick<Outcome, 'passed' | 'failed' | 'skipped'>): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`
}
