import type { IngestionJob } from '../../stores/document-store.ts'
import type { ClaimEnd } from './process-document.ts'

/** The text that should be under way at most, in UTF-16 code units: it bounds the memory taken by long documents. */
const MAX_CHARACTERS = 16_000_000
/** Taken for the length of a document before any has been seen. */
const LONG_DOCUMENT = 1_000_000
/** Of the newest document's length in what is expected of the next. */
const NEWEST_SHARE = 1 / 8

/** How one claim of one document ended, for metrics and for those who wait. */
export interface IngestionOutcome {
  documentId: string
  status: ClaimEnd['status']
  /** From claim to end. */
  milliseconds: number
  characters: number
  /** Chunks made; none unless ready. */
  chunks: number
}

export interface IngestionStatistics {
  /** Documents being ingested now. */
  underWay: number
  /** Their text, in UTF-16 code units. */
  charactersUnderWay: number
  /** How many claims ended in each way since the start. */
  ended: Record<ClaimEnd['status'], number>
}

interface Options {
  concurrency: number
  ingest: (job: IngestionJob) => Promise<ClaimEnd>
  onEnd: (outcome: IngestionOutcome) => void
}

interface InFlightJobs {
  take(job: IngestionJob): void
  /**
   * How many documents to take now: half of the places when half are free, and none before. One half is
   * claimed while the other is prepared, and both go through the disk's waits in company.
   */
  room(): number
  /** Resolves when nothing is under way. */
  done(): Promise<void>
  statistics(): IngestionStatistics
}

/** Keeps account of the documents under way. */
export function createInFlightJobs({ concurrency, ingest, onEnd }: Options): InFlightJobs {
  const underWay = new Set<Promise<void>>()
  const ended = { ready: 0, failed: 0, retried: 0, superseded: 0, released: 0, waiting: 0 }
  let characters = 0
  let expected = LONG_DOCUMENT

  const run = async (job: IngestionJob): Promise<IngestionOutcome> => {
    const begun = performance.now()
    const end = await ingest(job)
    return {
      documentId: job.documentId,
      status: end.status,
      milliseconds: performance.now() - begun,
      characters: end.status === 'ready' ? end.characters : job.text.length,
      chunks: end.status === 'ready' ? end.chunks : 0,
    }
  }

  return {
    take(job) {
      characters += job.text.length
      expected += (job.text.length - expected) * NEWEST_SHARE
      const running = run(job).then((outcome) => {
        underWay.delete(running)
        characters -= job.text.length
        ended[outcome.status]++
        onEnd(outcome)
      })
      underWay.add(running)
    },
    room() {
      const free = concurrency - underWay.size
      if (free < concurrency / 2 || characters >= MAX_CHARACTERS) return 0
      const fitting = Math.floor((MAX_CHARACTERS - characters) / expected)
      return Math.max(1, Math.min(Math.ceil(concurrency / 2), fitting))
    },
    async done() {
      while (underWay.size > 0) await Promise.allSettled(underWay)
    },
    statistics: () => ({
      underWay: underWay.size,
      charactersUnderWay: characters,
      ended: { ...ended },
    }),
  }
}
