import { repeat, untilAborted } from '@agent-server/lib/abort.ts'
import type { Owner } from '@agent-server/lib/limiter.ts'
import type { Log } from '@agent-server/lib/log.ts'
import { WriteBehind } from '@agent-server/lib/write-behind.ts'
import type { Caller } from '@agent-server/schemas/operator/api-key.ts'
import type {
  AuditEntry,
  AuditExportQuery,
  AuditPage,
  AuditQuery,
} from '@agent-server/schemas/operator/audit.ts'
import type { AuditStore, NewAuditEntry, AuditEntry as StoredEntry } from '@agent-server/stores'

/** How long what is only noted may wait to be stored. */
const NOTE_MS = 500
/** So many wait at most, as while the store is down; further ones are in the server's log alone, and counted. */
const MAX_NOTES = 20_000
const BATCH = 500
const EXPORT_PAGE = 500
/** Beyond these, the oldest go with the next tidying, whatever their age. */
export const MAX_ENTRIES = 5_000_000
const TIDY_MS = 3_600_000
const DAY_MS = 86_400_000

type Event = Omit<NewAuditEntry, 'at'>

interface Dependencies {
  store: AuditStore
  /** For how long entries are kept. */
  days: number
  log: Pick<Log, 'info' | 'warn'>
  now?: () => number
}

/** Who did what: only added to; the oldest entries alone are removed. */
export class Audit {
  readonly #store: AuditStore
  readonly #days: number
  readonly #log: Dependencies['log']
  readonly #now: () => number
  readonly #notes = new WriteBehind<NewAuditEntry>({
    store: (batch) => this.#storeNotes(batch),
    batch: BATCH,
    most: MAX_NOTES,
    delayMs: NOTE_MS,
  })
  #lost = 0

  constructor({ store, days, log, now = Date.now }: Dependencies) {
    this.#store = store
    this.#days = days
    this.#log = log
    this.#now = now
  }

  /** Resolves once it is durable, so that nothing is acknowledged before. Throws store errors. */
  async record(event: Event): Promise<void> {
    const entry = { ...event, at: this.#now() }
    // What was noted before has a smaller number.
    await this.#notes.flush()
    try {
      await this.#store.append([entry])
    } catch (error) {
      this.#logUnstored(entry, error)
      throw error
    }
    this.#toLog(entry)
  }

  /** For what is too frequent to wait for: durable within half a second, and when the server closes. */
  note(event: Event): void {
    const entry = { ...event, at: this.#now() }
    if (this.#notes.add(entry)) return
    this.#lost += 1
    this.#logUnstored(entry, new Error('Too many entries wait to be stored'))
  }

  async list({ cursor, limit, ...query }: AuditQuery, reader: Owner): Promise<AuditPage> {
    await this.#notes.flush()
    const before = cursor === undefined ? undefined : Number(cursor)
    const entries = await this.#store.list({ ...filterOf(query), before, limit: limit + 1, reader })
    const page = entries.slice(0, limit)
    const last = entries.length > limit ? page.at(-1) : undefined
    return { entries: page.map(toEntry), ...(last && { nextCursor: String(last.number) }) }
  }

  /** All of it, in batches that are not empty, the newest first. */
  async *export(
    query: AuditExportQuery,
    reader: Owner,
    signal: AbortSignal,
  ): AsyncGenerator<AuditEntry[]> {
    await this.#notes.flush()
    let before: number | undefined
    do {
      signal.throwIfAborted()
      const page = { ...filterOf(query), before, limit: EXPORT_PAGE, reader }
      const entries: StoredEntry[] = await this.#store.list(page)
      if (entries.length > 0) yield entries.map(toEntry)
      before = entries.length === EXPORT_PAGE ? entries.at(-1)?.number : undefined
    } while (before !== undefined)
  }

  /** Removes what is too old, or too much, until `signal` is aborted. */
  run(signal: AbortSignal): Promise<void> {
    // A close does not wait for it: what is removed in part is removed later.
    const tidy = () =>
      untilAborted(
        this.#store
          .removeOld(this.#now() - this.#days * DAY_MS, MAX_ENTRIES)
          .catch((error: unknown) => {
            const message = 'removing old entries of the audit log failed; retrying'
            this.#log.warn({ err: error }, message)
          }),
        signal,
      )
    return repeat(tidy, { everyMs: TIDY_MS }, signal)
  }

  /** Stores what is noted. */
  async close(): Promise<void> {
    await this.#notes.flush()
    for (const entry of this.#notes.waiting)
      this.#logUnstored(entry, new Error('The server has closed'))
  }

  async #storeNotes(batch: readonly NewAuditEntry[]): Promise<number> {
    try {
      await this.#store.append(batch)
    } catch (error) {
      const waiting = { err: error, waiting: this.#notes.waiting.length, lost: this.#lost }
      this.#log.warn(waiting, 'the audit log cannot be written; retrying with the next entry')
      return 0
    }
    for (const entry of batch) this.#toLog(entry)
    if (this.#lost > 0) this.#log.warn({ lost: this.#lost }, 'the audit log has lost entries')
    this.#lost = 0
    return batch.length
  }

  #logUnstored(entry: NewAuditEntry, error: unknown): void {
    this.#log.warn({ audit: entry, err: error }, `audit, not stored: ${entry.action}`)
  }

  /** The log goes wherever the `OTEL_*` variables send it. */
  #toLog(entry: NewAuditEntry): void {
    this.#log.info({ audit: entry }, `audit: ${entry.action}`)
  }
}

/** Who makes a request, as the audit log names them. */
export function whoOf(caller: Pick<Caller, 'person' | 'key'> | undefined): string {
  if (!caller) return 'stranger'
  return caller.person?.id ?? (caller.key ? `key:${caller.key.id}` : 'master')
}

function filterOf({ who, action, target, since, until }: AuditExportQuery) {
  const time = (text: string | undefined) => (text === undefined ? undefined : Date.parse(text))
  return { who, action, target, since: time(since), until: time(until) }
}

function toEntry({ number, at, who, address, action, status, targets }: StoredEntry): AuditEntry {
  return {
    number,
    at: new Date(at).toISOString(),
    who,
    ...(address !== undefined && { address }),
    action,
    ...(status !== undefined && { status }),
    targets: Object.fromEntries(
      Object.entries(targets).map(([name, value]) => [
        name,
        typeof value === 'string' ? value : [...value],
      ]),
    ),
  }
}
