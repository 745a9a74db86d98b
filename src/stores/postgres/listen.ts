import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { connectionSettings } from './pool.ts'

const FIRST_PAUSE_MILLISECONDS = 250
const LONGEST_PAUSE_MILLISECONDS = 10_000
/** A connection that has silently died hears nothing: it is asked for a sign of life. */
const HEARTBEAT_MILLISECONDS = 15_000
const ANSWER_MILLISECONDS = 5_000

interface Options {
  url: string
  /** Names that need no quoting. */
  channels: readonly string[]
  onMessage: (channel: string, payload: string) => void
  /** It listens, for the first time or again: what was told in between was missed. */
  onListening: () => void
  log: { warn(fields: object, message: string): void }
}

/** Listens on a connection of its own, made anew whenever it breaks, until closed. */
export function listen({ url, channels, onMessage, onListening, log }: Options) {
  const stopped = new AbortController()
  let failures = 0

  const connect = async (client: pg.Client) => {
    client.on('notification', ({ channel, payload }) => onMessage(channel, payload ?? ''))
    await client.connect()
    for (const channel of channels) await client.query(`LISTEN ${channel}`)
    failures = 0
    onListening()
  }

  /** Until the connection breaks, which throws. */
  const stayAlive = async (client: pg.Client, signal: AbortSignal) => {
    for (;;) {
      await pause(HEARTBEAT_MILLISECONDS, undefined, { signal, ref: false })
      await client.query('SELECT 1')
    }
  }

  const listenOnce = async () => {
    const client = new pg.Client({ ...connectionSettings(url), query_timeout: ANSWER_MILLISECONDS })
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
        log.warn({ failures }, 'not told what other servers do for a while: connecting again')
        const longest = Math.min(
          LONGEST_PAUSE_MILLISECONDS,
          FIRST_PAUSE_MILLISECONDS * 2 ** failures,
        )
        await pause(longest * Math.random(), undefined, { signal: stopped.signal }).catch(
          () => undefined,
        )
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
