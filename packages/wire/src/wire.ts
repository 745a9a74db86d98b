export {
  type Agent,
  type AgentEvent,
  type AgentRequest,
  type AttachedDocument,
  asksForJson,
  isClientTool,
  isSearch,
  type RunEnd,
  type ToolProgress,
  textDelta,
  visibilityOf,
} from './agent-event.ts'
export { AgentExtra, toAgentExtra } from './agent-extra.ts'
export { toAnswerFormat } from './answer-format.ts'
export { addressOf, citedBy, inputOf, textOf } from './answer-parts.ts'
export {
  CitationCheck,
  type CitationMark,
  CitationReader,
  withoutCitations,
} from './citation-check.ts'
export { ClientFunction, MAX_TOOLS } from './client-function.ts'
export {
  answerEvents,
  createEndpoint,
  createStream,
  type Dialect,
  type DialectServices,
  type DialectSettings,
  readAgentFields,
  type StreamDialect,
} from './endpoint.ts'
export {
  AttributeFilter,
  collectionOf,
  RankingOptions,
  storeOf,
  toFilter,
  VectorStoreId,
  WHOLE_CORPUS,
  withinStores,
} from './file-search.ts'
export { listOf, type PageQuery, pageOf, toList } from './list-page.ts'
export { refuseMissing } from './missing-endpoints.ts'
export { createModels, type Models, plainName } from './models.ts'
export type { Payment } from './payment.ts'
export {
  fromOpaque,
  fromReasoningFields,
  toOpaque,
  toReasoningFields,
  withReasoning,
} from './reasoning.ts'
export {
  IMAGE_MARK,
  MAX_IMAGE,
  ModelName,
  toClientTool,
  toTextCall,
  toUserMessage,
} from './request-parts.ts'
export { tokensOf } from './request-tokens.ts'
export { finishOf, RunCollector } from './run-collector.ts'
export { toRunExtras } from './run-extras.ts'
export { SAMPLING, toSampling } from './sampling.ts'
export {
  attachFiles,
  fileMark,
  fileName,
  MAX_FILE,
  type ReadFiles,
  type SentFile,
  toSentFile,
} from './sent-files.ts'
