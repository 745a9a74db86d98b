import { untilAborted } from '../../lib/abort.ts'
import { type ProcessLimits, startProcess } from '../../lib/child-process.ts'
import { freeYoungMemory } from '../../lib/free-young-memory.ts'
import { JobExhausted } from '../../lib/job.ts'
import { createSemaphore } from '../../lib/semaphore.ts'
import type { StoredFile } from '../../stores/file-store.ts'
import {
  ExtractionError,
  type FromReader,
  lengthOf,
  ownPacked,
  type ReadText,
  type ToReader,
} from './extracted.ts'

const ENTRY = new URL('./extract-process.ts', import.meta.url)
/** The runtime, the parsers and what they make of a file. */
const LIMITS = { heapMegabytes: 640, residentMegabytes: 768 }
/** A process holds what its parsers keep; after so long without a file it is ended. */
const IDLE_MS = 60_000

export interface ExtractorOptions {
  /** How many files are read at the same time, each in a process of its own. */
  processes: number
  /** How long one file may take. */
  deadlineMs: number
  /** What each process may take, besides the file itself and one copy of it. */
  limits?: ProcessLimits
  log?: { warn(fields: object, message: string): void }
}

export type Extractor = ReturnType<typeof createExtractor>

/** Reads files in processes of their own, which are replaced when a file is too much for one. */
export function createExtractor(options: ExtractorOptions) {
  const { processes, deadlineMs, limits = LIMITS, log } = options
  const closing = new AbortController()
  const semaphore = createSemaphore(processes)
  const idle: Reader[] = []
  const all = new Set<Reader>()
  let idleTimer: NodeJS.Timeout | undefined

  const drop = (reader: Reader) => {
    all.delete(reader)
    reader.kill()
  }
  const giveBack = (reader: Reader) => {
    idle.push(reader)
    clearTimeout(idleTimer)
    idleTimer = setTimeout(() => idle.splice(0).forEach(drop), IDLE_MS).unref()
  }
  const take = () => {
    const kept = idle.pop()
    if (kept?.isAlive()) return kept
    if (kept) drop(kept)
    const reader = startReader(limits)
    all.add(reader)
    return reader
  }

  async function read(file: StoredFile, pieces: AsyncIterable<Uint8Array>, signal: AbortSignal) {
    const reader = take()
    const deadline = AbortSignal.timeout(deadlineMs)
    try {
      const either = AbortSignal.any([signal, deadline])
      const answered = await untilAborted(reader.read(file, pieces), either)
      giveBack(reader)
      return answered
    } catch (error) {
      drop(reader)
      signal.throwIfAborted()
      const { mediaType, size } = file
      log?.warn({ err: error, mediaType, size }, 'the process that reads files is replaced')
      if (error === deadline.reason) {
        throw new ExtractionError('extraction_timeout', 'Reading the file took too long')
      }
      if (!(error instanceof JobExhausted)) throw error
      throw new ExtractionError('file_too_complex', `Reading the file ${error.message}`, error)
    }
  }

  return {
    /**
     * The text of a file. Waits for its turn. Throws `ExtractionError`, `JobCrashed`, what `pieces` throws,
     * and the reason of the signal, which ends the reading at once.
     */
    async extract(
      file: StoredFile,
      pieces: AsyncIterable<Uint8Array>,
      signal: AbortSignal,
    ): Promise<ReadText> {
      const wanted = AbortSignal.any([signal, closing.signal])
      const { answer, texts } = await semaphore.run(() => read(file, pieces, wanted), wanted)
      if (answer.kind === 'refused') {
        const { code, message, cause } = answer
        const { mediaType, size } = file
        if (cause) log?.warn({ code, cause, mediaType, size }, 'a file could not be read')
        throw new ExtractionError(code, message)
      }
      const { pageStarts } = answer
      const characters = texts.reduce((sum, text) => sum + lengthOf(text), 0)
      return { pieces: texts, characters, ...(pageStarts && { pageStarts }) }
    },
    close() {
      closing.abort(new Error('The server stops'))
      clearTimeout(idleTimer)
      for (const reader of all) drop(reader)
    },
  }
}

type Reader = ReturnType<typeof startReader>

/** A process that reads one file after another. Whatever goes wrong in it, it is replaced and not mended. */
function startReader(limits: ProcessLimits) {
  let texts: ReadText['pieces'] = []
  let waiting = Promise.withResolvers<Exclude<FromReader, { kind: 'text' }>>()
  const { send, isAlive, kill } = startProcess<FromReader>({ entry: ENTRY }, limits, {
    onMessage(message) {
      if (message.kind !== 'text') return waiting.resolve(message)
      texts.push(ownPacked(message.text))
      freeYoungMemory()
    },
    onEnd: (error) => waiting.reject(error),
  })
  const ask = (message: ToReader) => send(message)

  return {
    isAlive,
    kill,
    /** One file at a time: the last answer, and the texts that came before it. Throws `JobExhausted`, `JobCrashed`, and what `pieces` throws. */
    async read(file: StoredFile, pieces: AsyncIterable<Uint8Array>) {
      texts = []
      waiting = Promise.withResolvers()
      // It is awaited below, but may come to its end before all was sent.
      waiting.promise.catch(() => undefined)
      await ask({ kind: 'begin', ...file })
      for await (const bytes of pieces) {
        if (!isAlive()) break
        await ask({ kind: 'piece', bytes })
      }
      await ask({ kind: 'end' })
      return { answer: await waiting.promise, texts }
    },
  }
}
