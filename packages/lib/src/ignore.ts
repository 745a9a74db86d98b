import { debuglog } from 'node:util'
import type { Log } from './log.ts'

const debug = debuglog('agent-server')

let log: Pick<Log, 'debug'> | undefined

/** Sends the failures that `ignore` swallows to the log of the server, which this process runs. */
export function logIgnored(to: Pick<Log, 'debug'>): void {
  log = to
}

/**
 * Waits for work whose failure has no consequence here, and resolves to undefined if it fails. The failure is logged
 * at debug, together with `why` it has none: in the log of the server or, in threads and commands, which have no log,
 * on stderr if NODE_DEBUG=agent-server.
 */
export async function ignore<Result>(
  work: Promise<Result>,
  why: string,
): Promise<Result | undefined> {
  try {
    return await work
  } catch (error) {
    if (log) log.debug({ err: error }, why)
    else debug('%s: %o', why, error)
    return undefined
  }
}
