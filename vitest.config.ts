import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { CLIENTS, clientsAreInstalled } from './test/support/clients.ts'
import { isLong, ONLY_LONG } from './test/support/long.ts'
import { isLeftOut, longFiles } from './test/support/long-files.ts'

/** Suites that need a program of the machine: a container engine, a browser, PostgreSQL. */
const SYSTEM = 'test/system/**/*.test.ts'
/** Of these, what makes databases of its own on one PostgreSQL server, and what opens a browser. */
const POSTGRES = 'test/system/postgres/**/*.test.ts'
const BROWSER = 'test/system/{web-ui*,reference,client-runtimes}.test.ts'
/** What `npm run test:model` runs, with a model's server and weights from packages. */
const MODEL = 'test/model/**/*.test.ts'

const PATIENT = { testTimeout: 120_000, hookTimeout: 300_000 }

/** Looks at the memory of its process, in which other files may hold what they have begun. */
const BEFORE_ALL = /closed-server\.test\.ts$/
/** A few lines that take long: a contract's suite, programs of others that compile, every format through the server. */
const LONGEST = /(?:\.contract|clients\/generated|e2e\/files|api\/rights-matrix)\.test\.ts$/

/** Until durations are known, the largest files run first. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const orderOf = ({ moduleId }: TestSpecification) =>
      BEFORE_ALL.test(moduleId) ? 0 : LONGEST.test(moduleId) ? 1 : 2
    return (await super.sort(files)).toSorted((a, b) => orderOf(a) - orderOf(b))
  }
}

export default defineConfig({
  test: {
    // Generous, for machines with other work: what must be quick is measured in bench/.
    testTimeout: isLong ? 180_000 : 60_000,
    hookTimeout: 60_000,
    // In continuous integration a failed test is run once more, on machines whose load is unknown, and named.
    retry: process.env.CI === undefined ? 0 : 1,
    // On two cores: a worker often waits for a thread or process that it has started, so that two leave a core idle.
    maxWorkers: 3,
    // One worker runs many files and loads the server's modules once; a test that changes a global puts it back.
    isolate: false,
    // Modules are loaded by Node.js, as in the server: a sixth less processor time than through Vite. No `vi.mock`.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // `npm run coverage`: of what runs within the tests' own threads; jobs and servers in processes are not counted.
    coverage: {
      include: ['src/**/*.ts', 'packages/*/src/**/*.ts'],
      // A failed test is told by the tests; which lines were reached is told all the same.
      reportOnFailure: true,
      reporter: ['text-summary', ['text-summary', { file: 'summary.txt' }], 'html'],
    },
    expect: { poll: { timeout: 20_000 } },
    restoreMocks: true,
    sequence: { sequencer: LongestFirst },
    // See test/support/long.ts.
    tags: [
      { name: 'long', description: 'Does more in the long form (TEST_LONG=1).' },
      { name: ONLY_LONG, ...(!isLong && { skip: true }) },
    ],
    unstubEnvs: true,
    projects: [
      {
        extends: true,
        test: {
          name: 'everywhere',
          include: ['test/**/*.test.ts', 'packages/*/test/**/*.test.ts'],
          exclude: [
            '**/node_modules',
            SYSTEM,
            MODEL,
            ...(isLeftOut ? longFiles() : []),
            ...(clientsAreInstalled() ? [] : [`${CLIENTS}/**`]),
          ],
        },
      },
      {
        extends: true,
        test: { name: 'postgres', include: [POSTGRES], sequence: { groupOrder: 1 }, ...PATIENT },
      },
      {
        extends: true,
        test: { name: 'browser', include: [BROWSER], sequence: { groupOrder: 1 }, ...PATIENT },
      },
      {
        extends: true,
        // One after the other: a model takes every processor.
        test: {
          name: 'model',
          include: [MODEL],
          fileParallelism: false,
          sequence: { groupOrder: 3 },
          testTimeout: 900_000,
          hookTimeout: 300_000,
        },
      },
      {
        extends: true,
        // One after the other: they share an engine.
        test: {
          name: 'system',
          include: [SYSTEM],
          exclude: [POSTGRES, BROWSER],
          sequence: { groupOrder: 2 },
          fileParallelism: false,
          ...PATIENT,
        },
      },
    ],
  },
})
