import { readFileSync } from 'node:fs'
import { mkdtemp, readFile, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { CLIENTS, clientsAreInstalled } from '../test/support/clients.ts'
import { leavesOut, longFiles, namesFiles } from '../test/support/long-files.ts'
import { CHECK_NAMES, runChecks } from './check.ts'
import { closingLine, type Outcome, readReport } from './read-report.ts'
import { runToolWith } from './run-tool.ts'

/** The default parameters of vitest: run everything that needs neither root nor a network. */
const EVERYWHERE = ['--project=everywhere']

/** An in-memory file system, where a store does not wait for a disk; used if it has room for all test data. */
const MEMORY = { directory: '/dev/shm', bytes: 2 ** 32 }

/** How long all of it should take on two cores without other work, in seconds. */
const GOAL = { wall: 240, processor: 420 }

/** Of processor time, on every Linux that Node.js is built for. */
const TICKS_PER_SECOND = 100

/** `--tags-filter=<tag>`: tests without the tag are left out. */
const TAG = /^--tags-filter=([\w-]+)$/

// A package's `npm test` begins in its folder.
process.chdir(resolve(import.meta.dirname, '..'))

// `npm test` checks and tests everything; `npm test -- <file or option>` passes its arguments to
// vitest and runs no checks.
const selection = process.argv.slice(2)
const checks = selection.length === 0 ? CHECK_NAMES : []
// Run concurrently: a check hardly uses a second core.
const [failedChecks, outcome] = await Promise.all([
  runChecks(checks),
  runSuites(selection.length === 0 ? EVERYWHERE : selection),
])

for (const suite of outcome.skippedSuites) console.log(`skipped: ${suite}`)
if (selection.length === 0) {
  console.log(`\nslowest files:\n${outcome.slowest.join('\n')}\n`)
  console.log(
    `left to .ci/run: ${outcome.longOnly} tests of the long form and what else is tagged \`long\`, see test/support/long.ts`,
  )
  console.log(`left to .ci/run: ${longFiles().join(', ')}`)
  console.log(
    'left to .ci/run: test/system/ (container engine, browser, PostgreSQL), see npm run test:system',
  )
  if (!clientsAreInstalled()) {
    console.log(`left to .ci/run: ${CLIENTS} (programs of others), see npm ci --prefix ${CLIENTS}`)
  }
}
for (const test of outcome.unsteady) console.log(`passed when run again: ${test}`)
for (const failure of [...failedChecks, ...outcome.failures]) console.log(`failed: ${failure}`)
const seconds = { wall: process.uptime(), processor: processorSeconds() }
const processor = seconds.processor > 0 ? `, ${timeOf(seconds.processor)} of processor time` : ''
console.log(`took ${timeOf(seconds.wall)}${processor}`)
if (selection.length === 0 && (seconds.processor > GOAL.processor || seconds.wall > GOAL.wall)) {
  console.log(
    `above the goal of ${timeOf(GOAL.wall)} and ${timeOf(GOAL.processor)} of processor time: see "Tests" in AGENTS.md`,
  )
}
const total = {
  ...outcome,
  passed: outcome.passed + checks.length - failedChecks.length,
  failed: outcome.failed + failedChecks.length,
}
console.log(closingLine(total))
process.exitCode = total.failed === 0 ? 0 : 1

async function runSuites(parameters: readonly string[]): Promise<Outcome> {
  const directory = await mkdtemp(join(tmpdir(), 'agent-server-test-'))
  const report = join(directory, 'report.json')
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
  try {
    const passed = await runToolWith(
      { ...(await place(parameters)), ...(!namesFiles(parameters) && leavesOut) },
      'vitest',
      'run',
      ...reporters,
      ...parameters,
    )
    const tag = parameters.map((parameter) => TAG.exec(parameter)?.[1]).find(Boolean)
    const outcome = readReport(await readFile(report, 'utf8'), process.cwd(), tag)
    return passed || outcome.failed > 0 ? outcome : { ...outcome, failed: 1 }
  } catch (error) {
    console.error(error)
    return {
      passed: 0,
      failed: 1,
      skipped: 0,
      longOnly: 0,
      skippedSuites: [],
      failures: [],
      unsteady: [],
      slowest: [],
    }
  } finally {
    await rm(directory, { recursive: true })
  }
}

/** Where tests write. Containers of the system tests can only see the disk. */
async function place(parameters: readonly string[]): Promise<Record<string, string>> {
  if (parameters.some((parameter) => parameter.includes('system'))) return {}
  const { bavail, bsize } = await statfs(MEMORY.directory).catch(() => ({ bavail: 0, bsize: 0 }))
  return bavail * bsize < MEMORY.bytes ? {} : { TMPDIR: MEMORY.directory }
}

/** Of this process and of all that it has started, as soon as that has ended; 0 where it is not Linux, which alone tells it. */
function processorSeconds(): number {
  if (process.platform !== 'linux') return 0
  const stat = readFileSync('/proc/self/stat', 'utf8')
  // What follows the name in parentheses, which may contain spaces; see proc_pid_stat(5).
  const ticks = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 15)
  return ticks.reduce((sum, text) => sum + Number(text), 0) / TICKS_PER_SECOND
}

function timeOf(seconds: number): string {
  if (seconds < 60) return `${seconds.toFixed(1)} s`
  const whole = Math.round(seconds)
  return `${Math.floor(whole / 60)} min ${whole % 60} s`
}
