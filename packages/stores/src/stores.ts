export type { AcceptedTools, SkillCopies, ToolDigests } from './accepted.ts'
export {
  ARTIFACT_BOUNDS,
  type ArtifactStore,
  type NewArtifact,
  type StoredArtifact,
} from './artifact-store.ts'
export type { AuditEntry, AuditStore, NewAuditEntry } from './audit-store.ts'
export type { BackupRecord, BackupRows, BackupStart } from './backup.ts'
export { type ChunkBatch, createChunkBatchReader, packChunkBatch } from './chunk-codec.ts'
export { StaleKeysError } from './chunk-keys.ts'
export type { CollectionNames } from './collection-names.ts'
export {
  type CollectionStore,
  MAX_SHARED,
  type Role,
  type RoleLists,
  type StoredCollection,
} from './collection-store.ts'
export {
  CONVERSATION_BOUNDS,
  type ConversationRef,
  type ConversationStore,
  type ItemOutline,
  type ItemRef,
  type NewItem,
  type SharedConversation,
  type StoredConversation,
  type StoredItem,
} from './conversation-store.ts'
export {
  type CopyCheckpoint,
  CorpusChanged,
  type CorpusReads,
  type CorpusRecord,
  type CorpusSource,
  type CorpusStart,
  type CorpusTarget,
} from './corpus.ts'
export {
  type ChunkPage,
  type ChunkVectors,
  type DocumentFailure,
  type DocumentSelection,
  type DocumentStore,
  documentNotFound,
  type IngestionJob,
  isDocumentGone,
  type LabelsPatch,
  type ListQuery,
  type NewDocument,
  queueFull,
  type StoreCounts,
  type StoredChunk,
  type StoredDocument,
} from './document-store.ts'
export { MAX_EVALUATIONS, MAX_QUESTIONS } from './evaluation-store.ts'
export { type FeedbackStore, MAX_FEEDBACK, type StoredFeedback } from './feedback-store.ts'
export {
  DamagedFile,
  discard,
  type FileStore,
  type NewFile,
  type StoredFile,
} from './file-store.ts'
export type { KeyStore, StoredKey, UsedKey } from './key-store.ts'
export {
  chunkPages,
  type DocumentLookup,
  documentPages,
  eachDocument,
  type TextPart,
} from './lookup.ts'
export type { OpenedStore, VectorReplacement } from './opened-store.ts'
export type { Outbox, OutboxEvent } from './outbox.ts'
export {
  type McpAccountKey,
  type McpAccountStore,
  PEOPLE_BOUNDS,
  type PeopleStore,
  type SessionStore,
  type StoredMcpAccount,
  type StoredPerson,
  type StoredSession,
} from './people-store.ts'
export {
  type AnyStore,
  checkDatabase,
  checkPlace,
  openBackup,
  openCorpusSource,
  openCorpusTarget,
  openStore,
  type StorePlace,
} from './places.ts'
export { PROGRAM } from './program.ts'
export { RUN_BOUNDS, type RunStore } from './run-store.ts'
export type { StoredSource } from './source-store.ts'
export {
  type Amounts,
  type DayLimits,
  type OwnerLimits,
  type Refusal,
  refusalOf,
  USAGE_DIMENSIONS,
  type UsageDimension,
  type UsageEntry,
  type UsageOwners,
  type UsageStore,
  type UsageSum,
} from './usage-store.ts'
