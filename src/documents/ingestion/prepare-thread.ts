import { workerData } from 'node:worker_threads'
import { serveThread, transferring } from '@agent-server/lib/processes/thread.ts'
import type { AnalyserLanguage, TermBatch } from '@agent-server/search'
import { type ChunkText, createAnalyser } from '@agent-server/search'
import type { SplitChunk } from './split/pack-units.ts'
import { type SplitContext, splitPiece } from './split/split-text.ts'

/** The input of splitting and analysing. */
export interface SegmentText {
  title: string | undefined
  text: string
  /** If the text continues a longer one: the state at the end of the previous segment. */
  context?: SplitContext | undefined
}

/** There are no chunks if the text is only whitespace. */
export interface Prepared {
  /** Their offsets are relative to the segment. */
  chunks: SplitChunk[]
  /** One entry per chunk, in order. */
  terms: TermBatch
  /** For the next segment. */
  context: SplitContext
}

export interface PrepareThreadData {
  language: AnalyserLanguage
}

const { language }: PrepareThreadData = workerData
const analyser = createAnalyser(language)

const methods = {
  /** Answers as soon as the thread is running. */
  ready: () => true,

  prepare(texts: readonly SegmentText[]) {
    const prepared = texts.map(prepareOne)
    return transferring(
      prepared,
      prepared.flatMap(({ terms }) => buffersOf(terms)),
    )
  },

  analyse(chunks: readonly ChunkText[]) {
    const terms = analyser.batch(chunks)
    return transferring(terms, buffersOf(terms))
  },
}

export type PrepareMethods = typeof methods

serveThread(methods)

function prepareOne({ title, text, context: before }: SegmentText): Prepared {
  const { chunks, context } = splitPiece(text, before)
  const terms = analyser.batch(chunks.map((chunk) => ({ title, ...chunk })))
  return { chunks, terms, context }
}

function buffersOf({ lengths, offsets, terms, counts }: TermBatch): ArrayBuffer[] {
  return [lengths.buffer, offsets.buffer, terms.buffer, counts.buffer]
}
