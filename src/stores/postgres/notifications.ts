import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { z } from 'zod'
import { backoffMs } from '../../lib/backoff.ts'
import { createCoalescingQueue } from '../../lib/coalesce.ts'
import { parseJson } from '../../lib/text/json.ts'
import type { StoreListener } from '../opened-store.ts'
import { connectionSettings } from './connection.ts'
import type { Database } from './database.ts'

const FIRST_PAUSE_MS = 500
const MAX_PAUSE_MS = 10_000
/** A connection that died silently receives nothing, so connections are checked at this interval. */
const HEARTBEAT_MS = 15_000
const ANSWER_MS = 5_000

interface Options {
  url: string
  /** Names that need no quoting. */
  channels: readonly string[]
  onMessage: (channel: string, payload: string) => void
  /** Called when it listens, for the first time or again: what was sent in between was missed. */
  onListening: () => void
  log: { warn(fields: object, message: string): void }
}

/** Listens on a separate connection, which is reopened whenever it breaks, until closed. */
function listen({ url, channels, onMessage, onListening, log }: Options) {
  const stopped = new AbortController()
  let failures = 0

  const connect = async (client: pg.Client) => {
    client.on('notification', ({ channel, payload }) => onMessage(channel, payload ?? ''))
    await client.connect()
    for (const channel of channels) await client.query(`LISTEN ${channel}`)
    failures = 0
    onListening()
  }

  /** Runs until the connection breaks, and then throws. */
  const stayAlive = async (client: pg.Client, signal: AbortSignal) => {
    for (;;) {
      await pause(HEARTBEAT_MS, undefined, { signal, ref: false })
      await client.query('SELECT 1')
    }
  }

  const listenOnce = async () => {
    const client = new pg.Client({ ...connectionSettings(url), query_timeout: ANSWER_MS })
    const broken = new AbortController()
    client.on('error', () => broken.abort())
    client.on('end', () => broken.abort())
    try {
      await connect(client)
      await stayAlive(client, AbortSignal.any([stopped.signal, broken.signal]))
    } finally {
      void client.end().catch(() => undefined)
    }
  }

  const run = async () => {
    while (!stopped.signal.aborted) {
      try {
        await listenOnce()
      } catch {
        if (stopped.signal.aborted) return
        failures++
        log.warn(
          { failures },
          'not notified of what other servers do for a while: connecting again',
        )
        const ms = backoffMs(failures, { firstMs: FIRST_PAUSE_MS, maxMs: MAX_PAUSE_MS })
        await pause(ms, undefined, { signal: stopped.signal }).catch(() => undefined)
      }
    }
  }
  const running = run()

  return {
    async close() {
      stopped.abort()
      await running
    },
  }
}

const JOBS = 'agent_server_jobs'
const ENDED = 'agent_server_ended'

/**
 * Notifications are batched into at most one statement per interval, outside the transactions that they are about: a
 * notification within a transaction makes all commits of the database wait for one another.
 */
const GATHERING_MS = 25
/** PostgreSQL's limit for a message is 8,000 bytes. */
const MAX_IDS_PER_MESSAGE = 20
/** If more have ended at once, everyone who waits checks for themselves. */
const MAX_MESSAGES = 50

const NOTIFY = `SELECT pg_notify(channel, payload) FROM unnest($1::text[], $2::text[]) AS sent (channel, payload)`

/** Without ids, any document may have ended. */
const Message = z.object({ from: z.string(), ids: z.array(z.string()).optional() })

interface Dependencies {
  url: string
  database: Database
  /** Identifies this server, which ignores its own notifications. */
  owner: string
  log: { warn(fields: object, message: string): void }
}

/** A new job, or the id of a document whose ingestion has ended. */
type Change = 'job' | { id: string }

/** Notifies other servers of this server's changes, and local subscribers of theirs. */
export function createChangeNotifications({ url, database, owner, log }: Dependencies) {
  const listeners = new Set<StoreListener>()
  const queue = createCoalescingQueue<Change, void>({
    async work(batch) {
      const changes = batch.map(({ input }) => input)
      // If this fails, other servers still find out by polling.
      await database.write(NOTIFY, toMessages(changes, owner)).catch(() => undefined)
      for (const { resolve } of batch) resolve()
      await pause(GATHERING_MS, undefined, { ref: false })
    },
    weightOf: () => 0,
    maxWeight: 0,
  })
  let last: Promise<void> | undefined

  const hear = (channel: string, payload: string) => {
    // Anyone may notify on a channel.
    const { data: message } = Message.safeParse(parseJson(payload))
    if (message && message.from !== owner) {
      for (const listener of listeners) deliver(channel, message.ids, listener)
    }
  }
  const listening = listen({
    ...{ url, log, channels: [JOBS, ENDED], onMessage: hear },
    onListening() {
      for (const listener of listeners) {
        listener.jobCame()
        listener.documentEnded()
      }
    },
  })

  return {
    subscribe: (listener: StoreListener) => void listeners.add(listener),
    jobCame() {
      last = queue.submit('job')
    },
    documentEnded(id: string) {
      last = queue.submit({ id })
    },
    async close() {
      await listening.close()
      await last
    },
  }
}

/** The channels and the payloads of the notifications. */
function toMessages(changes: readonly Change[], from: string): [string[], string[]] {
  const ended = [...new Set(changes.flatMap((change) => (change === 'job' ? [] : [change.id])))]
  const payloads: string[] = []
  for (let start = 0; start < ended.length; start += MAX_IDS_PER_MESSAGE) {
    payloads.push(JSON.stringify({ from, ids: ended.slice(start, start + MAX_IDS_PER_MESSAGE) }))
  }
  const any = JSON.stringify({ from })
  const ends = payloads.length > MAX_MESSAGES ? [any] : payloads
  const jobs = changes.includes('job') ? [any] : []
  return [
    [...ends.map(() => ENDED), ...jobs.map(() => JOBS)],
    [...ends, ...jobs],
  ]
}

function deliver(channel: string, ids: readonly string[] | undefined, to: StoreListener): void {
  if (channel === JOBS) to.jobCame()
  else if (!ids) to.documentEnded()
  else for (const id of ids) to.documentEnded(id)
}
