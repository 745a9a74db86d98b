export { askModel, type Reader, type ShortTask } from './ask-model.ts'
export { createBuiltinEmbedder, EMBED_ENTRY, EMBEDDING } from './builtin/embedder.ts'
export {
  builtinFor,
  builtinModel,
  englishWords,
  findPackage,
  isInstalled,
  MINILM,
  MULTILINGUAL_E5,
  reasonAgainstDefault,
} from './builtin/models.ts'
export { prefersEightBits } from './builtin/processor.ts'
export {
  type AnswerFormat,
  CHAT_APIS,
  type ChatModel,
  type FinishReason,
  type ModelEvent,
  type ModelMessage,
  type ModelRequest,
  type ModelTool,
  type ModelToolCall,
  type ModelUsage,
  PromptTooLong,
  type ReasoningPart,
  type Sampling,
  type ToolChoice,
} from './chat-model.ts'
export { createChatReranker } from './chat-reranker.ts'
export { type Embedder, EmbedderError } from './embedder.ts'
export { createOpenAiEmbedder } from './embeddings/embedder.ts'
export { createExtractiveModel } from './extractive/extractive-model.ts'
export {
  type BegunCall,
  type EndCall,
  type EndedCall,
  type Meter,
  telling,
  UNMETERED,
  usageOf,
} from './meter.ts'
export { ANNOUNCEMENTS, ANNOUNCEMENTS_READ_ON, closingNotice } from './model-closings.ts'
export { PROTOCOLS } from './protocols.ts'
export { type Reranker, RerankerError, type RerankInput } from './reranker.ts'
export { createOpenAiReranker } from './reranking/reranker.ts'
export { spanAnswer, spanMessages } from './span-messages.ts'
export { BYTES_PER_TOKEN, estimateTokens, sizeOfMessages, sizeOfTools } from './token-estimate.ts'
export { createUpstreamModel } from './upstream/chat.ts'
export { firstApi } from './upstream/choose-api.ts'
export { authFor, type ModelServer } from './upstream/connection.ts'
export { CHAT_MODEL, EMBEDDING_MODEL, RERANK_MODEL } from './upstream/explain-failure.ts'
export { closingDay, listModels } from './upstream/list-models.ts'
