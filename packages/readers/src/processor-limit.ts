import { ExtractionError } from './extracted.ts'

/** What every file may take, and what it may take for its size: a page of real files has about so many bytes. */
const BASE_MS = 60_000
const PAGE_MS = 1_000
const PAGE_BYTES = 50_000
/** A page that is recognised takes a few seconds. */
const RECOGNISED_PAGE_MS = 30_000
const CHECK_MS = 500

/**
 * Bounds the processor time of one file, in a process that others may slow down but not charge. Its signal aborts with
 * the reason for which the file then fails.
 */
export function startProcessorLimit(
  size: number,
  processorMs: () => number,
  baseMs: number = BASE_MS,
) {
  const controller = new AbortController()
  const before = processorMs()
  let allowed = baseMs + (size / PAGE_BYTES) * PAGE_MS
  const check = () => {
    if (processorMs() - before <= allowed) return
    const seconds = Math.round(allowed / 1_000)
    const message = `Reading the file takes more than ${seconds} s of processor time: send it in parts, or in a simpler form`
    controller.abort(new ExtractionError('file_too_complex', message))
  }
  const timer = setInterval(check, CHECK_MS).unref()
  return {
    signal: controller.signal,
    addPage: () => (allowed += RECOGNISED_PAGE_MS),
    [Symbol.dispose]: () => clearInterval(timer),
  }
}
