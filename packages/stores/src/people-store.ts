import type { DayLimits } from './usage-store.ts'

/** Somebody who has signed in, with what they alone may use. Times are milliseconds since the epoch. */
export interface StoredPerson extends DayLimits {
  /** `user:<id>` */
  id: string
  name: string | undefined
  email: string | undefined
  /** As of when they were last seen. */
  groups: readonly string[]
  firstSeenAt: number
  lastSeenAt: number
}

/** Null takes a limit away; one that is not given stays as it is. */
export type LimitsChange = { [Name in keyof DayLimits]?: DayLimits[Name] | null }

export interface PeopleBounds {
  most: number
  unseenMs: number
}

export const PEOPLE_BOUNDS: PeopleBounds = { most: 100_000, unseenMs: 400 * 86_400_000 }

export type SeenPerson = Pick<StoredPerson, 'id' | 'name' | 'email' | 'groups'>

/** A session of the web UI. */
export interface StoredSession {
  /** The MAC of the secret that its browser has. */
  mac: string
  person: string
  name: string | undefined
  groups: readonly string[]
  /** The issuer's tokens, encrypted. */
  sealed: string
  /** Whom the issuer names when they sign out elsewhere: its `sub`, as it is. */
  subject: string
  /** What the issuer calls its own session. */
  issuerSession: string | undefined
  beganAt: number
  usedAt: number
  /** When a server began to ask the issuer about the person. */
  checkedAt: number
  /** When the issuer has last told the groups. */
  knownAt: number
}

/** What goes with a person. */
export interface RemovedPerson {
  sessions: number
  conversations: number
  /** Documents in these conversations. */
  documents: number
  feedback: number
  artifacts: number
  /** API keys that they have made as an administrator. */
  keys: number
  /** Accounts at MCP servers that they have connected. */
  accounts: number
  /** What they have added and created, and what stays. */
  handedOn: { documents: number; collections: number }
}

export interface PeopleStore {
  /** People after the cursor, by when they first came; at most `limit`. */
  list(page: { limit: number; cursor?: string | undefined }): Promise<{
    people: StoredPerson[]
    nextCursor: string | undefined
  }>
  find(id: string): Promise<StoredPerson | undefined>
  /**
   * Adds a person, or notes how they are now. Whenever somebody is added, some of those go who own nothing and were not
   * seen for `unseenMs`, or longest of more people than `most`.
   */
  see(person: SeenPerson, bounds?: PeopleBounds): Promise<void>
  /** Sets the limits that are given, or takes away those that are null; undefined if there is no such person. */
  limit(id: string, limits: LimitsChange): Promise<StoredPerson | undefined>
  /** Ids of documents that somebody has added, but for those of conversations. */
  documentsOf(id: string, limit: number): Promise<string[]>
  /** What `remove` would remove; undefined if there is no such person. */
  measure(id: string): Promise<RemovedPerson | undefined>
  /** Removes a person and what is theirs; what others may see belongs to `heir` from then on, or to nobody. */
  remove(id: string, heir?: string): Promise<void>
}

/** Sessions of people, shared by all servers on the store. */
export interface SessionStore {
  find(mac: string): Promise<StoredSession | undefined>
  /** Adds one, with its person if they were removed meanwhile, in place of the oldest of the person, and of all, if there are too many. */
  add(session: StoredSession, most: { perPerson: number; inAll: number }): Promise<void>
  use(mac: string, usedAt: number): Promise<void>
  /** Whether this server is to ask the issuer: only one of those that saw the same `checkedAt` is. */
  claimCheck(mac: string, seen: number, now: number): Promise<boolean>
  /** Returns whether there still was one. */
  renew(
    mac: string,
    now: Pick<StoredSession, 'name' | 'groups' | 'sealed' | 'knownAt'>,
  ): Promise<boolean>
  remove(mac: string): Promise<void>
  /** Removes the sessions that have ended. */
  removeOld(before: Pick<StoredSession, 'beganAt' | 'usedAt'>): Promise<void>
  /** What the issuer has ended: one session by its name, and those of the subject, of which it named none if it names one. */
  removeOf(of: { issuerSession: string | undefined; subject: string | undefined }): Promise<void>
}

/** Which account: whose, at the server of which connection. */
export interface McpAccountKey {
  /** A person, or `master` for who has the server key. */
  owner: string
  connection: string
}

export interface StoredMcpAccount extends McpAccountKey {
  /** The tokens, encrypted. */
  sealed: string
  connectedAt: number
}

/** Accounts of people at MCP servers, shared by all servers on the store. */
export interface McpAccountStore {
  find(key: McpAccountKey): Promise<StoredMcpAccount | undefined>
  /** Takes the place of the account of before; returns whether its person still exists. */
  save(account: StoredMcpAccount): Promise<boolean>
  /** Whether this server is to renew the tokens: only one that saw them as they are is, unless its claim is one that is `free`. */
  claim(
    account: StoredMcpAccount,
    free: { until: number; after: number },
    at: number,
  ): Promise<boolean>
  /** Replaces tokens that are still as they were; returns whether they were. */
  renew(account: StoredMcpAccount, sealed: string): Promise<boolean>
  /** Returns whether there was one, with these tokens if any are given. */
  remove(account: McpAccountKey & { sealed?: string | undefined }): Promise<boolean>
}
