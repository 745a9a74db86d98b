import type { Owner } from '@agent-server/lib/limiter.ts'

/** Something that somebody did. */
export interface NewAuditEntry {
  at: number
  /** A person (`user:…`), a key (`key:…`), `master`, `stranger` or `server`. */
  who: string
  address?: string | undefined
  action: string
  /** The status of the HTTP answer. */
  status?: number | undefined
  /** Identifiers, by what they identify. */
  targets: Readonly<Record<string, string | readonly string[]>>
}

export interface AuditEntry extends NewAuditEntry {
  number: number
}

export interface AuditQuery {
  who?: string | undefined
  action?: string | undefined
  /** One of the identifiers. */
  target?: string | undefined
  /** Milliseconds since the epoch. */
  since?: number | undefined
  until?: number | undefined
  /** Only entries with a smaller number: the newest come first. */
  before?: number | undefined
  limit: number
  /** Whose turn it takes. */
  reader?: Owner
}

/** What happened, in order; nothing is changed, and the oldest entries alone are removed. */
export interface AuditStore {
  list(query: AuditQuery): Promise<AuditEntry[]>
  append(entries: readonly NewAuditEntry[]): Promise<void>
  /** Removes entries of before a time, and the oldest if there are more than `most`. */
  removeOld(before: number, most: number): Promise<void>
}
