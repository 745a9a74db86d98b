import { toStorable } from '../../schemas/text.ts'
import type { DocumentStore, IngestionJob } from '../../stores/document-store.ts'
import type { Extractor } from '../extraction/create-extractor.ts'
import { MOST_CHARACTERS, type ReadText } from '../extraction/extracted.ts'
import { ExtractionError } from '../extraction/extraction-error.ts'
import { takeText } from '../extraction/packed-text.ts'
import { createTextBudget } from './text-budget.ts'

/** Read out of files and not yet published, in UTF-16 code units; one more file may be read on top of it. */
const MOST_EXTRACTED = MOST_CHARACTERS

/** The text of a claimed document. */
export interface OpenSource {
  /** Of the whole text, in UTF-16 code units. */
  characters: number
  /** The text in order. Each piece is let go as the next is taken, so it can be read once. */
  pieces(): Iterable<string>
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
    if (!file) return sourceOf(text)
    await budget.room(signal)
    const pieces = await store.readFile(documentId, revision)
    if (!pieces) throw new ExtractionError('damaged_file', 'The file is there no more')
    const read = await extractor.extract(file, pieces, signal)
    return {
      characters: read.characters,
      pieces: () => takeOut(read.pieces),
      pageStarts: read.pageStarts,
      close: budget.hold(read.characters),
    }
  }
}

function sourceOf(text: string): OpenSource {
  return {
    ...{ characters: text.length, pieces: () => [text] },
    ...{ pageStarts: undefined, close: () => undefined },
  }
}

function* takeOut(pieces: ReadText['pieces']): Generator<string> {
  for (let piece = pieces.shift(); piece !== undefined; piece = pieces.shift()) {
    // One code unit for another, so that the pages still begin where they did.
    yield toStorable(takeText(piece))
  }
}
