import { AppError } from '../../errors.ts'
import type { AnalyserLanguage } from '../../indexes/analyser/languages.ts'
import { unpackPassages } from './packed-passages.ts'
import type { PreparedPiece, Preparer, Source } from './prepare.ts'
import { createPrepareQueue } from './prepare-queue.ts'
import type { PackedSource } from './prepare-thread.ts'
import { superviseThread } from './supervise-thread.ts'

const HEAP_MEGABYTES = 1_024

export interface PreparerOptions {
  language: AnalyserLanguage
  /** How long splitting and analysing one document may take. */
  deadlineMilliseconds: number
  /** The most memory one document may make the thread take. */
  heapMegabytes?: number
  log?: { warn(fields: object, message: string): void }
}

/**
 * Splits and analyses in one worker thread. A document that takes too long or crashes the thread fails
 * alone, with a `PreparationError`; those sent together with it are tried again, each by itself.
 * Throws AppError `queue_full` when too many calls wait for the thread.
 */
export function createPreparer(options: PreparerOptions): Preparer {
  const { language, deadlineMilliseconds, heapMegabytes = HEAP_MEGABYTES, log } = options
  const thread = superviseThread({
    data: { language },
    deadlineMilliseconds,
    heapMegabytes,
    log,
  })
  const queue = createPrepareQueue({
    prepare: (sources) => thread.run((open) => open.call('prepare', sources)),
    analyse: (passages) => thread.run((open) => open.call('analyse', passages)),
  })

  return {
    async prepare(source, signal) {
      const { passages, terms } = unpack(source, await queue.prepare(source, signal))
      if (passages.length === 0) throw withoutText()
      return { passages, terms }
    },
    preparePiece: async (source, signal) => unpack(source, await queue.prepare(source, signal)),
    analyse: queue.analyse,
    async close() {
      queue.close()
      await thread.terminate()
    },
  }
}

function unpack(source: Source, { passages, terms, context }: PackedSource): PreparedPiece {
  return { passages: unpackPassages(source.text, passages), terms, context }
}

export function withoutText(): AppError {
  return new AppError('invalid_request', 'The document holds no text to index', { param: 'text' })
}
