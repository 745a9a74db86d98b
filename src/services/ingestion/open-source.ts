import { toStorable } from '../../schemas/text.ts'
import type { DocumentStore, IngestionJob } from '../../stores/document-store.ts'
import type { Extractor } from '../extraction/create-extractor.ts'
import { MOST_CHARACTERS } from '../extraction/extracted.ts'
import { ExtractionError } from '../extraction/extraction-error.ts'
import { createTextBudget } from './text-budget.ts'

/** Read out of files and not yet published, in UTF-16 code units; one more file may be read on top of it. */
const MOST_EXTRACTED = MOST_CHARACTERS

/** The text of a claimed document. */
export interface OpenSource {
  text: string
  /** Where the pages of its file begin in it, if it has any. */
  pageStarts: readonly number[] | undefined
  /** Says that the text is needed no more. */
  close(): void
}

export type OpenSourceOf = (job: IngestionJob, signal: AbortSignal) => Promise<OpenSource>

interface Dependencies {
  store: Pick<DocumentStore, 'readFile'>
  extractor: Pick<Extractor, 'extract'>
}

/** Gives the text that came with a document, or reads it out of the file that came instead. Throws `ExtractionError`. */
export function createSources({ store, extractor }: Dependencies): OpenSourceOf {
  const budget = createTextBudget(MOST_EXTRACTED)

  return async ({ documentId, revision, text, file }, signal) => {
    if (!file) return { text, pageStarts: undefined, close: () => undefined }
    await budget.room(signal)
    const pieces = await store.readFile(documentId, revision)
    if (!pieces) throw new ExtractionError('damaged_file', 'The file is there no more')
    const extracted = await extractor.extract(file, pieces, signal)
    return {
      // One code unit for another, so that the pages still begin where they did.
      text: toStorable(extracted.text),
      pageStarts: extracted.pageStarts,
      close: budget.hold(extracted.text.length),
    }
  }
}
