import type { ArtifactStore } from './artifact-store.ts'
import type { DocumentStore } from './document-store.ts'
import type { OpenLockFile } from './lock-file.ts'
import type { DocumentLookup } from './lookup.ts'
import type { ChangeNotifications, Outbox } from './outbox.ts'
import type { SkillCopies } from './skill-copies.ts'
import type { VectorReplacement } from './vector-replacement.ts'

/** A database with all that the server keeps in it. */
export interface OpenedStore extends DocumentStore {
  /** Makes all vectors anew. */
  readonly replacement: VectorReplacement
  /** As `replacement.alone`, for whoever makes the vectors that are missing. */
  readonly backlogAlone: VectorReplacement['alone']
  readonly lookup: DocumentLookup
  readonly outbox: Outbox
}

/** What the agent keeps beside documents. */
export interface AgentStores {
  artifacts: ArtifactStore
  /** Responses that clients go on from. */
  responses: ArtifactStore
  openLockFile: OpenLockFile
  skillCopies: SkillCopies
}

/** A database that several servers have open at the same time. */
export interface SharedStore extends OpenedStore, ChangeNotifications {
  /** What the agents of all servers keep. */
  readonly agent: AgentStores
}
