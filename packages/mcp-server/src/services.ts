import type {
  Document,
  DocumentCreated,
  DocumentList,
  TextQuery,
} from '@agent-server/schemas/document.ts'
import type { Filter } from '@agent-server/schemas/metadata.ts'
import type { DocumentInput } from '@agent-server/schemas/new-document.ts'
import type { Caller, Scope } from '@agent-server/schemas/operator/api-key.ts'
import type { Correction, Hit, QueryRequest } from '@agent-server/schemas/query.ts'

// What MCP and its sign-in use of the server, whose own parts fit as they are.

interface DocumentText {
  title?: string | undefined
  url?: string | undefined
  text: string
  /** Length of the whole text, in UTF-16 code units. */
  length: number
}

interface DocumentPage {
  limit: number
  status: Document['status']
  cursor: string | undefined
}

/** The documents that a caller sees. What names one throws `document_not_found`. */
export interface Documents {
  get(id: string): Promise<Document>
  list(page: DocumentPage, signal: AbortSignal): Promise<DocumentList>
  text(id: string, range: TextQuery, signal: AbortSignal): Promise<DocumentText>
  /** Reads a failed document again. Throws `document_not_failed`. */
  retry(id: string): Promise<DocumentCreated>
  /** The document once the goal is reached or has failed, or after so many seconds. */
  awaitCompletion(
    document: DocumentCreated,
    wait: { seconds: number; goal: 'ready' },
    signal: AbortSignal,
  ): Promise<DocumentCreated>
}

interface Search extends Pick<QueryRequest, 'query' | 'topK' | 'minScore' | 'mode'> {
  filter?: Filter | undefined
}

export interface Corpus {
  documents: Documents
  /** Stores a new document, with its text or the content at its URL. */
  add(
    input: DocumentInput,
    idempotencyKey: string | undefined,
    signal: AbortSignal,
  ): Promise<DocumentCreated>
  /** Names of the collections that the caller sees. */
  collections(signal: AbortSignal): Promise<string[]>
  retrieval: {
    search(
      query: Search,
      signal: AbortSignal,
    ): Promise<{ hits: Hit[]; corrections: Correction[]; degraded: boolean }>
  }
}

/** A key without its secret. Times are milliseconds since the epoch. */
export interface StoredKey {
  id: string
  name: string
  scopes: Scope[]
  collections?: string[] | undefined
  requestsPerMinute?: number | undefined
  tokensPerDay?: number | undefined
  expiresAt?: number | undefined
  createdAt: number
  /** The id of the key that created it; undefined for the master key. */
  createdBy?: string | undefined
  digest: string
}

export interface KeyStore {
  list(): Promise<StoredKey[]>
  find(id: string): Promise<StoredKey | undefined>
  /**
   * Throws `too_many_keys`, also for more keys made by OAuth than `grants` allows; returns false if the key that
   * creates it does not exist any more.
   */
  add(
    key: StoredKey,
    most: number,
    grants?: { prefix: string; ofOne: number; inAll: number },
  ): Promise<boolean>
  /** Gives a key another secret if its digest is still `digest`; returns whether it was. */
  renew(id: string, digest: string, next: Pick<StoredKey, 'digest' | 'expiresAt'>): Promise<boolean>
  /** Returns whether it existed. */
  remove(id: string): Promise<boolean>
  /** The same, if it expired so long ago by the store's clock, and that can be believed. */
  removeOld(id: string, milliseconds: number): Promise<boolean>
}

/** Who presents a key; undefined if it is unknown, revoked or expired. */
export type Identify = (token: string) => Promise<Caller | undefined>

/** A skill of the agent: instructions, and files beside them by their paths. */
export interface Skill {
  name: string
  description: string
  body: string
  files: ReadonlyMap<string, Uint8Array>
}

/** Puts a change into the audit log; resolves once it is durable. */
export type RecordChange = (change: {
  caller: Caller
  address: string
  /** The operation of the contract that does the same. */
  action: string
  status: number
  params?: unknown
  body: unknown
  /** In JSON. */
  answer?: unknown
}) => Promise<void>
