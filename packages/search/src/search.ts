export { type Analyser, type ChunkText, createAnalyser } from './analyser/analyser.ts'
export { detectLanguage } from './analyser/detect-language.ts'
export { ANALYSER_LANGUAGES, type AnalyserLanguage, stopWordsOf } from './analyser/languages.ts'
export type {
  Candidate,
  ChunkIndex,
  ChunkLabels,
  ChunkQuery,
  IndexMatch,
  IndexSource,
  VectorBatch,
} from './chunk-index.ts'
export type { ChunkIndexDriver, IndexContext } from './driver.ts'
export { embedded } from './embedded/driver.ts'
export { createEmbeddedIndex } from './embedded/embedded-index.ts'
export { rankHybrid } from './fusion.ts'
export { byScore } from './ranking.ts'
export {
  createSearch,
  type LexicalQuery,
  type Scope,
  type Stages,
  type VectorQuery,
} from './staged-search.ts'
export {
  addTerms,
  joinTermBatches,
  lengthNorm,
  mixQueryTerms,
  type QueryTerms,
  shareOfTerms,
  type TermBatch,
  termWeight,
} from './term-batch.ts'
