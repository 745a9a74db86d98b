import { workerData } from 'node:worker_threads'
import { createAnalyser } from '../../indexes/analyser/analyser.ts'
import type { AnalyserLanguage } from '../../indexes/analyser/languages.ts'
import type { TermBatch } from '../../indexes/term-batch.ts'
import { serveThread, transferring } from '../../lib/thread.ts'
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

/** The fields of a chunk that search looks at. */
export interface IndexedText {
  title: string | undefined
  heading: string
  text: string
}

export interface PrepareThreadData {
  language: AnalyserLanguage
}

/** A prepared text on its way between threads: the starter cuts the texts of the chunks out of its own copy. */
export interface PreparedByThread extends Omit<Prepared, 'chunks'> {
  chunks: Omit<SplitChunk, 'text'>[]
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

  analyse(chunks: readonly IndexedText[]) {
    const terms = analyser.batch(chunks)
    return transferring(terms, buffersOf(terms))
  },
}

export type PrepareMethods = typeof methods

serveThread(methods)

function prepareOne({ title, text, context: before }: SegmentText): PreparedByThread {
  const { chunks, context } = splitPiece(text, before)
  const terms = analyser.batch(chunks.map((chunk) => ({ title, ...chunk })))
  const places = chunks.map(({ heading, start, end }) => ({ heading, start, end }))
  return { chunks: places, terms, context }
}

function buffersOf({ lengths, offsets, terms, counts }: TermBatch): ArrayBuffer[] {
  return [lengths.buffer, offsets.buffer, terms.buffer, counts.buffer]
}
