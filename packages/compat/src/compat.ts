export { embeddingRoutes } from './embeddings/routes.ts'
export { Embeddings } from './embeddings/schema.ts'
export { FileBatch } from './files/batch-schema.ts'
export { fileSearchRoutes } from './files/routes.ts'
export { StoreFileContent } from './files/schema.ts'
export { messageRoutes } from './messages/routes.ts'
export { Message, MessageEvent } from './messages/schema.ts'
export { oikbRoutes } from './oikb/routes.ts'
export { MAX_FILES, Removed, SyncDiff, SyncedFiles, Uploaded } from './oikb/schema.ts'
export { ollamaRoutes } from './ollama/routes.ts'
export {
  OllamaChatAnswer,
  OllamaEmbeddings,
  OllamaModelInfo,
  OllamaModels,
} from './ollama/schema.ts'
