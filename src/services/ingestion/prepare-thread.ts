import { workerData } from 'node:worker_threads'
import { createAnalyser } from '../../indexes/analyser/analyser.ts'
import type { AnalyserLanguage } from '../../indexes/analyser/languages.ts'
import type { TermBatch } from '../../indexes/term-batch.ts'
import { serveThread, transferring } from '../../lib/thread.ts'
import {
  type IndexedText,
  type PackedChunks,
  packChunks,
  type Source,
  type SplitContext,
} from './prepare.ts'
import { splitPiece } from './split/split-text.ts'

export interface PrepareThreadData {
  language: AnalyserLanguage
}

/** A prepared source on its way between threads; without chunks the source holds no text. */
export interface PackedSource {
  chunks: PackedChunks
  terms: TermBatch
  context: SplitContext
}

const { language }: PrepareThreadData = workerData
const analyser = createAnalyser(language)

const methods = {
  /** Answers as soon as the thread works. */
  ready: () => true,

  prepare(sources: readonly Source[]) {
    const packed = sources.map(prepareOne)
    const buffers = packed.flatMap(({ chunks, terms }) => [
      chunks.bounds.buffer,
      chunks.headingOf.buffer,
      ...buffersOf(terms),
    ])
    return transferring(packed, buffers)
  },

  analyse(chunks: readonly IndexedText[]) {
    const terms = analyser.batch(chunks)
    return transferring(terms, buffersOf(terms))
  },
}

export type PrepareMethods = typeof methods

serveThread(methods)

function prepareOne({ title, text, context: before }: Source): PackedSource {
  const { chunks, context } = splitPiece(text, before)
  const terms = analyser.batch(chunks.map((chunk) => ({ title, ...chunk })))
  return { chunks: packChunks(chunks), terms, context }
}

function buffersOf({ lengths, offsets, terms, counts }: TermBatch): ArrayBuffer[] {
  return [lengths.buffer, offsets.buffer, terms.buffer, counts.buffer]
}
