import type { Log } from './log.ts'

/**
 * Waits for work whose failure is of no consequence here, and resolves to undefined if it failed. `why` says why
 * nothing depends on it, in the code and in the log (at debug); without a log, as in a thread, only in the code.
 */
export async function ignore<Result>(
  work: Promise<Result>,
  why: string,
  log?: Pick<Log, 'debug'>,
): Promise<Result | undefined> {
  try {
    return await work
  } catch (error) {
    log?.debug({ err: error }, why)
    return undefined
  }
}
