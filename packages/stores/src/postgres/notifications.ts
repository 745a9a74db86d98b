import { setTimeout as pause } from 'node:timers/promises'
import { backoffMs } from '@agent-server/lib/backoff.ts'
import { batched } from '@agent-server/lib/batches.ts'
import { ignore } from '@agent-server/lib/ignore.ts'
import type { Log } from '@agent-server/lib/log.ts'
import { parseJson } from '@agent-server/lib/text/json.ts'
import pg from 'pg'
import { z } from 'zod'
import type { StoreListener } from '../opened-store.ts'
import { connectionSettings, RUN } from './connection.ts'
import type { Database } from './database.ts'

const CHANNEL = 'agent_server'
const FIRST_PAUSE_MS = 500
const MAX_PAUSE_MS = 10_000
/** A connection that died silently receives nothing, so connections are checked at this interval. */
const HEARTBEAT_MS = 15_000
const ANSWER_MS = 5_000

interface Options {
  url: string
  onMessage: (payload: string) => void
  /** Called when it listens, for the first time or again: what was sent in between was missed. */
  onListening: () => void
  log: Pick<Log, 'warn'>
}

/** Listens on a separate connection, which is reopened whenever it breaks, until closed. */
function listen({ url, onMessage, onListening, log }: Options) {
  const stopped = new AbortController()
  let failures = 0

  const connect = async (client: pg.Client) => {
    client.on('notification', ({ payload }) => onMessage(payload ?? ''))
    await client.connect()
    await client.query(RUN)
    await client.query(`LISTEN ${CHANNEL}`)
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
      const ended = ignore(client.end(), 'a connection that is broken cannot be ended')
      // Until the database has seen it, a server seems to run. One that is gone does not answer.
      if (stopped.signal.aborted) {
        await Promise.race([ended, pause(ANSWER_MS, undefined, { ref: false })])
      }
    }
  }

  const run = async () => {
    while (!stopped.signal.aborted) {
      try {
        await listenOnce()
      } catch {
        if (stopped.signal.aborted) return
        failures++
        log.warn({ failures }, 'lost the notifications from other servers: reconnecting')
        const ms = backoffMs(failures, { firstMs: FIRST_PAUSE_MS, maxMs: MAX_PAUSE_MS })
        await ignore(pause(ms, undefined, { signal: stopped.signal }), 'the loop sees why it ended')
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

/**
 * Changes are gathered for so long, and notified outside the transactions that they are about: a notification within a
 * transaction makes all commits of the database wait for one another.
 */
const GATHERING_MS = 25
/** PostgreSQL's limit for a message is 8,000 bytes. */
const MAX_IDS_PER_MESSAGE = 20
/** If more have ended at once, everyone who waits checks for themselves. */
const MAX_IDS = 1_000

const NOTIFY = `SELECT pg_notify('${CHANNEL}', payload) FROM unnest($1::text[]) AS sent (payload)`

/** `job`: there is a new one. Without ids, any document may have ended. */
const Message = z.object({
  from: z.string(),
  job: z.boolean(),
  ended: z.array(z.string()).optional(),
})
type Message = z.output<typeof Message>

interface Dependencies {
  url: string
  database: Database
  /** Identifies this server, which ignores its own notifications. */
  owner: string
  log: Pick<Log, 'warn'>
}

/** Notifies other servers of this server's changes, and local subscribers of theirs. */
export function createChangeNotifications({ url, database, owner, log }: Dependencies) {
  const listeners = new Set<StoreListener>()
  const ended = new Set<string>()
  let job = false
  let sending: Promise<void> | undefined

  const send = async () => {
    await pause(GATHERING_MS)
    sending = undefined
    const payloads = toMessages({ from: owner, job, ended: [...ended] }).map((message) =>
      JSON.stringify(message),
    )
    job = false
    ended.clear()
    const sent = database.transaction((tx) => tx.all(NOTIFY, [payloads]))
    await ignore(sent, 'other servers still find out by polling')
  }

  const listening = listen({
    url,
    log,
    onMessage(payload) {
      // Anyone may notify on a channel.
      const { data: message } = Message.safeParse(parseJson(payload))
      if (message && message.from !== owner) {
        for (const listener of listeners) deliver(message, listener)
      }
    },
    onListening() {
      for (const listener of listeners) deliver({ from: '', job: true }, listener)
    },
  })

  return {
    subscribe: (listener: StoreListener) => void listeners.add(listener),
    notifyJob() {
      job = true
      sending ??= send()
    },
    notifyDocument(id: string) {
      ended.add(id)
      sending ??= send()
    },
    async close() {
      await listening.close()
      await sending
    },
  }
}

/** Messages that are short enough. */
function toMessages({ from, job, ended = [] }: Message): Message[] {
  if (ended.length > MAX_IDS) return [{ from, job }]
  const [first = [], ...others] = batched(ended, MAX_IDS_PER_MESSAGE)
  return [{ from, job, ended: first }, ...others.map((some) => ({ from, job: false, ended: some }))]
}

function deliver({ job, ended }: Message, to: StoreListener): void {
  if (job) to.notifyJob()
  if (!ended) to.notifyDocument()
  else for (const id of ended) to.notifyDocument(id)
}
