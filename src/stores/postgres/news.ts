import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import type { StoreListener, StoreNews } from '../store-news.ts'
import type { Database, Query } from './database.ts'
import { listen } from './listen.ts'

const JOBS = 'agent_server_jobs'
const ENDED = 'agent_server_ended'

/**
 * Told in one statement at most so often, beside the transactions that it is about: a notification within a
 * transaction makes the commits of a whole database wait for one another.
 */
const GATHERING_MILLISECONDS = 25
/** PostgreSQL's limit is 8,000 bytes. */
const MOST_IDS_PER_MESSAGE = 20
/** When more have ended at once, all who wait look for themselves. */
const MOST_MESSAGES = 50

const NOTIFY: Query = {
  name: 'notify',
  text: `SELECT pg_notify(channel, payload) FROM unnest($1::text[], $2::text[]) AS told (channel, payload)`,
}

/** No ids stand for any. */
const Message = z.object({ from: z.string(), ids: z.array(z.string()).optional() })

interface Dependencies {
  url: string
  database: Pick<Database, 'write'>
  /** Names this server: it need not be told what it told itself. */
  owner: string
  log: { warn(fields: object, message: string): void }
}

export interface News extends StoreNews, StoreListener {
  close(): Promise<void>
}

/** Tells other servers what this one does, and the subscriber here what they do. */
export function createNews({ url, database, owner, log }: Dependencies): News {
  const listeners = new Set<StoreListener>()
  let hasJobs = false
  let ended = new Set<string>()
  let telling: Promise<void> | undefined

  const gather = () => {
    const messages: [string, string][] = hasJobs ? [[JOBS, JSON.stringify({ from: owner })]] : []
    for (const ids of inMessages([...ended])) {
      messages.push([ENDED, JSON.stringify({ from: owner, ids })])
    }
    hasJobs = false
    ended = new Set()
    return messages
  }

  const tellAll = async () => {
    while (hasJobs || ended.size > 0) {
      await pause(GATHERING_MILLISECONDS, undefined, { ref: false })
      const messages = gather()
      const values = [messages.map(([channel]) => channel), messages.map(([, payload]) => payload)]
      // Others look for themselves now and then.
      await database.write(NOTIFY, values).catch(() => undefined)
    }
    telling = undefined
  }
  const tell = () => {
    telling ??= tellAll()
  }

  const hear = (channel: string, payload: string) => {
    const message = parse(payload)
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
    subscribe: (listener) => void listeners.add(listener),
    jobCame() {
      hasJobs = true
      tell()
    },
    documentEnded(id) {
      if (id !== undefined) ended.add(id)
      tell()
    },
    async close() {
      await listening.close()
      await telling
    },
  }
}

function inMessages(ids: readonly string[]): (string[] | undefined)[] {
  if (ids.length > MOST_IDS_PER_MESSAGE * MOST_MESSAGES) return [undefined]
  const starts = Array.from({ length: Math.ceil(ids.length / MOST_IDS_PER_MESSAGE) }, (_, i) => i)
  return starts.map((i) => ids.slice(i * MOST_IDS_PER_MESSAGE, (i + 1) * MOST_IDS_PER_MESSAGE))
}

/** Anyone may notify on a channel. */
function parse(payload: string): z.output<typeof Message> | undefined {
  try {
    return Message.parse(JSON.parse(payload))
  } catch {
    return undefined
  }
}

function deliver(channel: string, ids: readonly string[] | undefined, to: StoreListener): void {
  if (channel === JOBS) to.jobCame()
  else if (!ids) to.documentEnded()
  else for (const id of ids) to.documentEnded(id)
}
