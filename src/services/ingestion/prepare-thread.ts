import { workerData } from 'node:worker_threads'
import { type ChunkText, createAnalyser } from '../../indexes/analyser/analyser.ts'
import type { AnalyserLanguage } from '../../indexes/analyser/languages.ts'
import type { TermBatch } from '../../indexes/term-batch.ts'
import { serveThread, transferring } from '../../lib/processes/thread.ts'
import type { SplitChunk } from './split/pack-units.ts'
import { type SplitContext, splitPiece } from './split/split-text.ts'

/** What splitting and analysing need to know. */
export interface SegmentText {
  title: string | undefined
  text: string
  /** Where the text is the next segment of a longer one: how the one before it ended. */
  context?: SplitContext | undefined
}

/** It has no chunks where the text holds nothing but blanks. */
export interface Prepared {
  /** Offsets are those into the segment. */
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
  /** Answers as soon as the thread works. */
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

function buffersOf({ lengths, digests, offsets, terms, counts }: TermBatch): ArrayBuffer[] {
  return [lengths.buffer, digests.buffer, offsets.buffer, terms.buffer, counts.buffer]
}
