import { untilAborted } from '../../lib/until-aborted.ts'
import type { IngestionJob } from '../../stores/document-store.ts'
import type { Embedding } from '../embedding/create-embedding.ts'
import { numberPages } from './number-pages.ts'
import type { OpenSource, OpenSourceOf } from './open-source.ts'
import type { Passage, Preparer } from './prepare.ts'
import type { Publisher } from './publish-documents.ts'

interface Dependencies {
  openSource: OpenSourceOf
  preparer: Pick<Preparer, 'prepare'>
  publisher: Pick<Publisher, 'publish'>
  /** Absent where search goes by words alone. */
  embedding?: Pick<Embedding, 'documents'> | undefined
}

export interface MadeReady {
  chunks: number
  characters: number
}

/** Takes a claimed document from its text or file to its chunks. Answers nothing if the claim is no longer current. */
export function createMakeReady({ openSource, preparer, publisher, embedding }: Dependencies) {
  const prepare = async (job: IngestionJob, source: OpenSource, signal: AbortSignal) => {
    const prepared = await preparer.prepare({ title: job.title, text: source.text }, signal)
    const passages = numberPages(prepared.passages, source.pageStarts)
    return { passages, terms: prepared.terms }
  }

  const publish = async (
    job: IngestionJob,
    source: OpenSource,
    signal: AbortSignal,
  ): Promise<MadeReady | undefined> => {
    const prepared = await prepare(job, source, signal)
    const vectors = await embedding?.documents(withTitle(job, prepared.passages), signal)
    const extracted = job.file && source.text
    const publishing = publisher.publish(job, prepared, vectors, extracted)
    const isReady = await untilAborted(publishing, signal)
    if (!isReady) return undefined
    return { chunks: prepared.passages.length, characters: source.text.length }
  }

  return async (job: IngestionJob, signal: AbortSignal): Promise<MadeReady | undefined> => {
    const source = await openSource(job, signal)
    return publish(job, source, signal).finally(source.close)
  }
}

function withTitle({ title }: IngestionJob, passages: readonly Passage[]) {
  return passages.map(({ heading, text }) => ({ title, heading, text }))
}
