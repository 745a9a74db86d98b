import { afterAll, onTestFinished, TestRunner } from 'vitest'

/**
 * Calls `close` when the running test is over, or else, at the top level of a test file, after its last test. In a hook,
 * and outside vitest, the caller closes.
 */
export function closeAfterUse(close: () => Promise<void> | void): void {
  if (!process.env.VITEST) return
  if (TestRunner.getCurrentTest()) onTestFinished(close)
  else afterAll(close)
}
