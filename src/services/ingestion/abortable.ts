import { untilAborted } from '../../lib/until-aborted.ts'

/** Rejects with the signal's reason as soon as it is aborted. */
export async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, milliseconds)
  try {
    await untilAborted(promise, signal)
  } finally {
    clearTimeout(timer)
  }
}

/** Whether `work` settles within `milliseconds`. */
export async function settlesWithin(
  work: Promise<unknown>,
  milliseconds: number,
): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const timer = setTimeout(resolve, milliseconds, false)
  const settled = () => true
  try {
    return await Promise.race([work.then(settled, settled), promise])
  } finally {
    clearTimeout(timer)
  }
}
