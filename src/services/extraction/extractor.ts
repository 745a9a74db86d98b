import type { StoredFile } from '../../stores/file-store.ts'
import { ExtractionError, type ReadText } from './extracted.ts'
import { type ReadingProcess, startReadingProcess } from './reader-process.ts'

/** A process holds what its parsers keep; after so long without a file it is let go. */
const IDLE_MS = 60_000

export interface ExtractorOptions {
  /** How many files are read at the same time, each in a process of its own. */
  processes: number
  /** How long one file may take. */
  deadlineMs: number
  log?: { warn(fields: object, message: string): void }
}

export interface Extractor {
  /**
   * The text of a file. Waits for its turn. Throws `ExtractionError`, what `pieces` throws, and the reason of
   * the signal, which ends the reading at once.
   */
  extract(
    file: StoredFile,
    pieces: AsyncIterable<Uint8Array>,
    signal: AbortSignal,
  ): Promise<ReadText>
  close(): void
}

/** Reads files in processes of their own, which are replaced when a file is too much for one. */
export function createExtractor({ processes, deadlineMs, log }: ExtractorOptions): Extractor {
  const semaphore = createSemaphore(processes)
  const idle: ReadingProcess[] = []
  const all = new Set<ReadingProcess>()
  let letGo: NodeJS.Timeout | undefined

  const drop = (reader: ReadingProcess) => {
    all.delete(reader)
    reader.kill()
  }
  const dropIdle = () => {
    for (const reader of idle.splice(0)) drop(reader)
  }
  const take = () => {
    const reader = idle.pop() ?? startReadingProcess()
    all.add(reader)
    return reader
  }
  const giveBack = (reader: ReadingProcess) => {
    if (!reader.isAlive()) return drop(reader)
    idle.push(reader)
    clearTimeout(letGo)
    letGo = setTimeout(dropIdle, IDLE_MS).unref()
  }

  const read: Extractor['extract'] = async (file, pieces, signal) => {
    signal.throwIfAborted()
    const reader = take()
    const ended = Promise.withResolvers<never>()
    const stop = () => ended.reject(signal.reason)
    const timer = setTimeout(() => ended.reject(tooLate()), deadlineMs)
    signal.addEventListener('abort', stop)
    try {
      const extracted = await Promise.race([reader.extract(file, pieces), ended.promise])
      giveBack(reader)
      return extracted
    } catch (error) {
      if (isRefusal(error) && reader.isAlive()) giveBack(reader)
      else {
        log?.warn({ err: error, size: file.size }, 'the process that reads files is replaced')
        drop(reader)
      }
      throw error
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', stop)
    }
  }

  return {
    async extract(file, pieces, signal) {
      const leave = await semaphore.enter(signal)
      try {
        return await read(file, pieces, signal)
      } finally {
        leave()
      }
    },
    close() {
      clearTimeout(letGo)
      for (const reader of all) drop(reader)
    },
  }
}

/** The process has said so itself, and can read on. */
function isRefusal(error: unknown): boolean {
  return error instanceof ExtractionError && error.code !== 'extraction_timeout'
}

function tooLate(): ExtractionError {
  return new ExtractionError('extraction_timeout', 'Reading the file took too long')
}

interface Semaphore {
  /** Waits for a free place, in order, and answers what gives it back. Throws the reason of the signal. */
  enter(signal: AbortSignal): Promise<() => void>
}

/** So many at a time; those who wait are as many as documents are under way. */
export function createSemaphore(places: number): Semaphore {
  const waiting: (() => void)[] = []
  let free = places

  const leave = () => {
    const next = waiting.shift()
    if (next) next()
    else free++
  }

  return {
    async enter(signal) {
      signal.throwIfAborted()
      if (free > 0) free--
      else await turn(waiting, signal)
      return leave
    },
  }
}

async function turn(waiting: (() => void)[], signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const giveUp = () => {
    const position = waiting.indexOf(resolve)
    if (position >= 0) waiting.splice(position, 1)
    reject(signal.reason)
  }
  waiting.push(resolve)
  signal.addEventListener('abort', giveUp)
  try {
    await promise
  } finally {
    signal.removeEventListener('abort', giveUp)
  }
}
