import { expect, it } from 'vitest'
import { closingLine, readReport } from '../../scripts/read-report.ts'

const test = (status: string, title = 'holds', ...ancestorTitles: string[]) => ({
  status,
  title,
  ancestorTitles,
})

function report(...files: { status: string; assertionResults: unknown[] }[]): string {
  const testResults = files.map((file, index) => ({
    name: `/project/test/${index}.test.ts`,
    ...file,
  }))
  return JSON.stringify({
    success: files.every(({ status }) => status === 'passed'),
    testResults,
  })
}

it('counts what passed and what failed', () => {
  const json = report(
    { status: 'passed', assertionResults: [test('passed'), test('passed')] },
    { status: 'failed', assertionResults: [test('passed'), test('failed')] },
  )
  expect(readReport(json, '/project')).toMatchObject({ passed: 3, failed: 1, skipped: 0 })
})

it('names each test that failed and each file that could not be run, with what it said, cut', () => {
  const said = [
    '\u001b[31mAssertionError\u001b[39m: expected 1 to be 2',
    '',
    ...Array(20).fill('  at …'),
  ]
  const failed = { ...test('failed', 'adds', 'Sums'), failureMessages: [said.join('\n')] }
  const json = report({ status: 'failed', assertionResults: [test('passed'), failed] }, {
    status: 'failed',
    assertionResults: [],
    message: 'Cannot find module',
  } as never)
  const { failures } = readReport(json, '/project')
  expect(failures).toEqual([
    expect.stringMatching(
      /^test\/0\.test\.ts > Sums > adds\n {4}AssertionError: expected 1 to be 2(\n {4}at …){5}$/u,
    ),
    'test/1.test.ts\n    Cannot find module',
  ])
})

it('names each test that passed only when it was run again', () => {
  const again = { ...test('passed', 'adds', 'Sums'), failureMessages: ['expected 1 to be 2'] }
  const json = report({ status: 'passed', assertionResults: [test('passed'), again] })
  expect(readReport(json, '/project')).toMatchObject({
    passed: 2,
    failed: 0,
    unsteady: ['test/0.test.ts > Sums > adds\n    expected 1 to be 2'],
  })
})

it('names each suite with skipped tests once, with its file and how many', () => {
  const json = report({
    status: 'passed',
    assertionResults: [
      test('skipped', 'one', 'Relevance (needs ../shared/data)'),
      test('skipped', 'two', 'Relevance (needs ../shared/data)'),
      test('todo', 'a thing to come'),
    ],
  })
  expect(readReport(json, '/project')).toMatchObject({
    skipped: 3,
    skippedSuites: [
      'test/0.test.ts > Relevance (needs ../shared/data) (2)',
      'test/0.test.ts > a thing to come (1)',
    ],
  })
})

it('counts as skipped in a run of one tag only what has it', () => {
  const tests = [test('skipped'), { ...test('skipped'), tags: ['long'] }]
  const json = report({ status: 'passed', assertionResults: tests })
  expect(readReport(json, '/project', 'long').skipped).toBe(1)
})

it('counts tests of the long form by themselves', () => {
  const tests = [test('skipped'), { ...test('skipped'), tags: ['long', 'only-long'] }]
  const json = report({ status: 'passed', assertionResults: tests })
  expect(readReport(json, '/project')).toMatchObject({
    skipped: 1,
    longOnly: 1,
    skippedSuites: ['test/0.test.ts > holds (1)'],
  })
})

it('names the files that took longest first, ten at most', () => {
  const files = Array.from({ length: 12 }, (_, number) => ({
    status: 'passed',
    assertionResults: [test('passed')],
    startTime: 1_000,
    endTime: 1_000 + 100 * number,
  }))
  const { slowest } = readReport(report(...files), '/project')
  expect(slowest).toHaveLength(10)
  expect(slowest[0]).toBe('1.1 s test/11.test.ts')
})

it('counts a file that could not be loaded as a failure', () => {
  expect(readReport(report({ status: 'failed', assertionResults: [] }), '/project').failed).toBe(1)
})

it('counts a run that failed although each of its tests passed as a failure', () => {
  const json = JSON.stringify({
    success: false,
    testResults: [
      { name: '/project/a.test.ts', status: 'passed', assertionResults: [test('passed')] },
    ],
  })
  expect(readReport(json, '/project')).toMatchObject({ passed: 1, failed: 1 })
})

it('closes with a plain line, which tells skipped tests where there are any', () => {
  const outcome = { passed: 7, failed: 1, skipped: 0 }
  expect(closingLine(outcome)).toBe('7 passed, 1 failed')
  expect(closingLine({ ...outcome, skipped: 2 })).toBe('7 passed, 1 failed, 2 skipped')
})
