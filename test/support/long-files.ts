import { globSync, readFileSync, statSync } from 'node:fs'

/** The first line of a test file that is long as a whole; vitest gives its tests the tag. */
export const MODULE_TAG = '// @module-tag long'

/** Of the environment of a run that no long file belongs to. */
export const leavesOut = { TEST_LONG_FILES: '0' }
export const isLeftOut = process.env.TEST_LONG_FILES === leavesOut.TEST_LONG_FILES

/** Test files that run for `.ci/run`, and for whoever names them, but not with all others. */
export function longFiles(): string[] {
  return globSync('{test,packages/*/test}/**/*.test.ts', { exclude: ['**/node_modules'] })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => readFileSync(path, 'utf8').split(/\r?\n/, 1)[0] === MODULE_TAG)
    .toSorted()
}

/** Whether a parameter of vitest is more than an option or a folder, whose files come together. */
export function namesFiles(parameters: readonly string[]): boolean {
  return parameters.some(
    (parameter) =>
      !parameter.startsWith('-') && !statSync(parameter, { throwIfNoEntry: false })?.isDirectory(),
  )
}
