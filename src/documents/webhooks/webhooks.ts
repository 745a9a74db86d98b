import { createHmac } from 'node:crypto'
import { SetupError } from '@agent-server/lib/errors.ts'
import type { Log } from '@agent-server/lib/log.ts'
import { createNotifier } from '@agent-server/lib/notifier.ts'
import {
  createGuardedFetch,
  OutboundError,
  type OutboundRequest,
  refusalOf,
} from '@agent-server/lib/outbound/guarded-fetch.ts'
import { createOutboundPolicy } from '@agent-server/lib/outbound/policy.ts'
import type { Outbox, OutboxEvent } from '@agent-server/stores'

/** Events delivered concurrently. */
const MAX_DELIVERIES = 8
/** The lease on an event: longer than a delivery may take, so it is never sent twice concurrently. */
const TAKEN_MS = 120_000
/** How often due events are polled for without a notification. */
const POLL_MS = 2_000
/** How often the request for events is renewed at the outbox. */
const RENEWAL_MS = 3_600_000
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/** The delay before each retry, as https://www.standardwebhooks.com recommends: three days in total. */
const WAITS_MS = [
  5_000,
  5 * MINUTE_MS,
  ...[0.5, 2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR_MS),
]
/** The maximum share of a delay that is added at random, so that a recovering receiver is not flooded. */
const JITTER = 0.1
const GONE = 410

interface Dependencies {
  outbox: Outbox
  fetch: (url: string, request: OutboundRequest) => Promise<Response>
  url: string
  secret: string
  log: Pick<Log, 'warn' | 'error'>
  waits?: readonly number[]
  renewalMs?: number
}

type Webhooks = ReturnType<typeof createWebhooks>

/** Only the status of a webhook's response is used. */
const MAX_ANSWER_BYTES = 64 * 1024
const ANSWER_MS = 20_000

interface Receiver {
  /** Without it, nothing is sent. */
  url: string | undefined
  secret: string | undefined
  /** Private addresses that may be called. */
  allow: readonly string[]
}

/** Throws a SetupError if the receiver may not be called, whatever its host name resolves to. */
export function checkReceiver({ url, allow }: Omit<Receiver, 'secret'>): void {
  const refusal = url === undefined ? undefined : refusalOf(url, createOutboundPolicy(allow))
  if (refusal) throw new SetupError(`WEBHOOK_URL: ${refusal.message}`)
}

/** Opens the sender of webhooks. */
export function openWebhooks(
  { url, secret, allow }: Receiver,
  parts: Pick<Dependencies, 'outbox' | 'log'>,
): Webhooks {
  if (url === undefined || secret === undefined) {
    const nothing = async () => undefined
    return { start: () => parts.outbox.enable(false), wake: () => undefined, stop: nothing }
  }
  const guarded = createGuardedFetch(createOutboundPolicy(allow), {
    maxBytes: MAX_ANSWER_BYTES,
    idleMs: ANSWER_MS,
    totalMs: ANSWER_MS,
  })
  const webhooks = createWebhooks({ ...parts, fetch: guarded.fetch, url, secret })
  return {
    ...webhooks,
    async stop() {
      await webhooks.stop()
      await guarded.close()
    },
  }
}

/** Notifies a receiver of each document that became `ready` or `failed`, at least once. */
export function createWebhooks(dependencies: Dependencies) {
  const { outbox, log, waits = WAITS_MS, renewalMs = RENEWAL_MS } = dependencies
  const notifier = createNotifier()
  const stopping = new AbortController()
  let running: Promise<void> | undefined
  let wantedAt = 0

  const deliver = async (event: OutboxEvent) => {
    const { id, documentId, attempt } = event
    const failure = await send(dependencies, event, stopping.signal)
    const wait = waits[attempt - 1]
    const fields = { documentId, attempt, failure }
    if (stopping.signal.aborted) return outbox.postponeEvent(id, Date.now())
    if (failure !== undefined && wait !== undefined) {
      log.warn(fields, 'the webhook was not accepted; it is sent again later')
      const milliseconds = Math.round(wait * (1 + Math.random() * JITTER))
      return outbox.postponeEvent(id, Date.now() + milliseconds)
    }
    if (failure !== undefined)
      log.error(fields, 'the webhook was not accepted and will not be sent again')
    return outbox.removeEvent(id)
  }

  const want = async () => {
    await outbox.enable(true)
    wantedAt = performance.now()
  }

  const run = async () => {
    while (!stopping.signal.aborted) {
      try {
        if (performance.now() - wantedAt >= renewalMs) await want()
        const due = await outbox.takeEvents(MAX_DELIVERIES, TAKEN_MS)
        await Promise.all(due.map(deliver))
        if (due.length === MAX_DELIVERIES) continue
      } catch (error) {
        log.error({ err: error }, 'the outbox does not respond; webhooks are postponed')
      }
      await notifier.wait(POLL_MS)
    }
  }

  return {
    async start(): Promise<void> {
      await want()
      running = run()
    },
    /** Signals that an ingestion has ended. */
    wake: notifier.notify,
    /** Takes no more events and aborts deliveries in flight; their events are due again at once. */
    async stop(): Promise<void> {
      stopping.abort(new Error('The server stops'))
      notifier.notify()
      await running
    },
  }
}

/** Returns why the delivery failed; undefined if it succeeded. */
async function send(
  { fetch, url, secret }: Dependencies,
  event: OutboxEvent,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { id } = event
  const body = bodyOf(event)
  const signed = signedHeaders(secret, { id, body }, Date.now())
  try {
    const response = await fetch(url, {
      method: 'POST',
      redirect: 'manual',
      body,
      signal,
      headers: { 'content-type': 'application/json', ...signed },
    })
    await response.body?.cancel()
    // A receiver that answers 410 wants no more deliveries of this event.
    return response.ok || response.status === GONE ? undefined : `status ${response.status}`
  } catch (error) {
    if (error instanceof OutboundError || signal.aborted) return String(error)
    throw error
  }
}

function bodyOf({ documentId, revision, status, error, endedAt }: OutboxEvent): string {
  return JSON.stringify({
    type: `document.${status}`,
    timestamp: new Date(endedAt).toISOString(),
    data: { id: documentId, revision, status, ...(error && { error }) },
  })
}

const PREFIX = 'whsec_'

/**
 * The headers by which a receiver verifies that a message is authentic, unmodified and recent, as defined by
 * https://www.standardwebhooks.com. The secret is `whsec_` and its bytes in base64.
 */
export function signedHeaders(
  secret: string,
  message: { id: string; body: string },
  now: number,
): Record<string, string> {
  const timestamp = Math.floor(now / 1_000)
  const signature = createHmac('sha256', keyOf(secret))
    .update(`${message.id}.${timestamp}.${message.body}`)
    .digest('base64')
  return {
    'webhook-id': message.id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': `v1,${signature}`,
  }
}

function keyOf(secret: string): Buffer {
  return Buffer.from(secret.replace(PREFIX, ''), 'base64')
}
