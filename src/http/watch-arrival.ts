import type { IncomingMessage } from 'node:http'
import { AppError } from '../errors.ts'
import { CallerLeft } from './call-signal.ts'

/** Without a byte for so long the sender is taken to be gone. */
const SILENCE_MILLISECONDS = 60_000

/**
 * Calls `fail` once if the sender hangs up or falls silent before the request is whole. A reader that is slow
 * itself is not the sender's fault. Answers what ends the watch.
 */
export function watchArrival(
  request: IncomingMessage,
  fail: (error: Error) => void,
  silence = SILENCE_MILLISECONDS,
): () => void {
  const timer = setTimeout(() => {
    if (request.readableFlowing) {
      fail(new AppError('request_timeout', 'The rest of the request did not arrive'))
    } else timer.refresh()
  }, silence)
  const arrived = () => timer.refresh()
  const closed = () => {
    if (!request.complete) fail(new CallerLeft())
  }
  request.on('data', arrived)
  request.on('close', closed)
  return () => {
    clearTimeout(timer)
    request.off('data', arrived)
    request.off('close', closed)
  }
}
