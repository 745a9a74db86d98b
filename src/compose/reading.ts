import type { FastifyBaseLogger } from 'fastify'
import { createExtractor } from '../services/extraction/create-extractor.ts'
import { createSources } from '../services/ingestion/open-source.ts'
import type { DocumentStore } from '../stores/document-store.ts'

/** Reading the text out of one file; ten thousand pages take about a minute. */
const DEADLINE_MILLISECONDS = 300_000
/** Each may take several hundred megabytes while it reads. */
const PROCESSES = 2

/** What reads the text of documents that were sent as files. */
export function openReading(store: Pick<DocumentStore, 'readFile'>, log: FastifyBaseLogger) {
  const extractor = createExtractor({
    ...{ processes: PROCESSES, deadlineMilliseconds: DEADLINE_MILLISECONDS, log },
  })
  return { openSource: createSources({ store, extractor }), close: extractor.close }
}
