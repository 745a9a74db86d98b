import { untilAborted } from '../../lib/until-aborted.ts'
import type { IngestionJob } from '../../stores/document-store.ts'
import type { Embedding } from '../embedding/create-embedding.ts'
import { numberPages } from './number-pages.ts'
import type { OpenSource, OpenSourceOf } from './open-source.ts'
import type { Preparer } from './prepare.ts'
import type { Publisher } from './publish-documents.ts'
import type { createLongPublishing } from './publish-long-document.ts'
import { withTitle } from './with-title.ts'

/** A longer text is not held in memory whole, in UTF-16 code units. */
const LONG_CHARACTERS = 524_288

interface Dependencies {
  openSource: OpenSourceOf
  preparer: Pick<Preparer, 'prepare'>
  publisher: Pick<Publisher, 'publish'>
  publishLong: ReturnType<typeof createLongPublishing>
  /** Absent where search goes by words alone. */
  embedding?: Pick<Embedding, 'documents'> | undefined
}

export interface MadeReady {
  chunks: number
  characters: number
}

/** Takes a claimed document from its text or file to its chunks. Answers nothing if the claim is no longer current. */
export function createMakeReady(dependencies: Dependencies) {
  const { openSource, preparer, publisher, publishLong, embedding } = dependencies

  const publishWhole = async (job: IngestionJob, source: OpenSource, signal: AbortSignal) => {
    const text = [...source.pieces()].join('')
    const prepared = await preparer.prepare({ title: job.title, text }, signal)
    const passages = numberPages(prepared.passages, source.pageStarts)
    const vectors = await embedding?.documents(withTitle(job.title, passages), signal)
    const extracted = job.file && text
    const { terms } = prepared
    const publishing = publisher.publish(job, { passages, terms }, vectors, extracted)
    const isReady = await untilAborted(publishing, signal)
    return isReady ? { chunks: passages.length } : undefined
  }

  return async (job: IngestionJob, signal: AbortSignal): Promise<MadeReady | undefined> => {
    const source = await openSource(job, signal)
    const { characters, close } = source
    const publish = characters > LONG_CHARACTERS ? publishLong : publishWhole
    const made = await publish(job, source, signal).finally(close)
    return made && { ...made, characters }
  }
}
