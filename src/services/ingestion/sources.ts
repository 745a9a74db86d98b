import { untilAborted } from '../../lib/abort.ts'
import { toStorable } from '../../schemas/fields.ts'
import type { DocumentStore, IngestionJob } from '../../stores/document-store.ts'
import {
  ExtractionError,
  MAX_CHARACTERS,
  type ReadText,
  takeText,
} from '../extraction/extracted.ts'
import type { Extractor } from '../extraction/extractor.ts'

/** Read out of files and not yet published, in UTF-16 code units; one more file may be read on top of it. */
const MAX_EXTRACTED = MAX_CHARACTERS

/** The text of a claimed document. */
export interface Source {
  /** Of the whole text, in UTF-16 code units. */
  characters: number
  /** The text in order. Each piece is let go as the next is taken, so it can be read once. */
  pieces(): Iterable<string>
  /** Where the pages of its file begin in it, if it has any. */
  pageStarts: readonly number[] | undefined
  /** Says that the text is needed no more. */
  close(): void
}

export type OpenSource = (job: IngestionJob, signal: AbortSignal) => Promise<Source>

interface Dependencies {
  store: Pick<DocumentStore, 'readFile' | 'noteFile'>
  extractor: Pick<Extractor, 'extract'>
}

/** Gives the text that came with a document, or reads it out of the file that came instead. Throws `ExtractionError`. */
export function createSources({ store, extractor }: Dependencies): OpenSource {
  const budget = createBudget(MAX_EXTRACTED)

  return async (job, signal) => {
    const { documentId, revision, text, file } = job
    if (!file) {
      const close = () => undefined
      return { characters: text.length, pieces: () => [text], pageStarts: undefined, close }
    }
    await budget.room(signal)
    const open = async () => {
      const bytes = await store.readFile(documentId, revision)
      if (!bytes) throw new ExtractionError('damaged_file', 'The file is there no more')
      return bytes
    }
    const notes = createNotes(store, job)
    const { characters, pieces, pageStarts, warnings } = await extractor.extract(
      file,
      { open, onPage: notes.onPage },
      signal,
    )
    await notes.end(warnings)
    return { characters, pageStarts, pieces: () => takeOut(pieces), close: budget.hold(characters) }
  }
}

/** Pages are reported this often at most; one takes about a second. */
const NOTE_MS = 1_000

/** Keeps with the document how far its reader is, and in the end what it could not read. */
function createNotes({ noteFile }: Pick<DocumentStore, 'noteFile'>, job: IngestionJob) {
  let notedAt: number | undefined
  let noting: Promise<void> = Promise.resolve()

  return {
    onPage(page: number): void {
      if (notedAt !== undefined && performance.now() - notedAt < NOTE_MS) return
      notedAt = performance.now()
      // Nothing depends on it, and what fails here fails again in the end.
      noting = noteFile(job, { page }).catch(() => undefined)
    },
    async end(warnings: ReadText['warnings']): Promise<void> {
      await noting
      if (notedAt === undefined && !job.file?.notes) return
      await noteFile(job, warnings.length > 0 ? { warnings } : {})
    },
  }
}

function* takeOut(pieces: ReadText['pieces']): Generator<string> {
  for (let piece = pieces.shift(); piece !== undefined; piece = pieces.shift()) {
    // One code unit for another, so that the pages still begin where they did.
    yield toStorable(takeText(piece))
  }
}

/** Bounds what is in memory: characters, or bytes. Who comes when there is room gets all that it asks for. */
export function createBudget(max: number) {
  let held = 0
  let eased = Promise.withResolvers<void>()

  return {
    /** Waits until there is less than the maximum. Throws the reason of the signal. */
    async room(signal: AbortSignal): Promise<void> {
      signal.throwIfAborted()
      while (held >= max) await untilAborted(eased.promise, signal)
    },
    /** Counts so much until what it answers is called. */
    hold(weight: number) {
      held += weight
      return () => {
        held -= weight
        eased.resolve()
        eased = Promise.withResolvers()
      }
    },
  }
}
