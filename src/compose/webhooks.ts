import type { FastifyBaseLogger } from 'fastify'
import type { Config } from '../config.ts'
import { createGuardedFetch, refusalOf } from '../lib/outbound/guarded-fetch.ts'
import { createOutboundPolicy } from '../lib/outbound/outbound-policy.ts'
import { createWebhooks, type Webhooks } from '../services/webhooks/create-webhooks.ts'
import type { Outbox } from '../stores/outbox.ts'

/** What a receiver answers is not read, but for its status. */
const MAXIMUM_ANSWER_BYTES = 64 * 1024
const ANSWER_MILLISECONDS = 20_000

/** Throws an Error where WEBHOOK_URL may not be called, whatever its name resolves to. */
export function checkWebhookUrl({ WEBHOOK_URL: url, OUTBOUND_ALLOW: allow = [] }: Config): void {
  const refusal = url === undefined ? undefined : refusalOf(url, createOutboundPolicy(allow))
  if (refusal) throw new Error(`WEBHOOK_URL: ${refusal.message}`)
}

/** Nobody is told where there is no WEBHOOK_URL. */
export function openWebhooks(
  { WEBHOOK_URL: url, WEBHOOK_SECRET: secret, OUTBOUND_ALLOW: allow = [] }: Config,
  outbox: Outbox,
  log: FastifyBaseLogger,
): Webhooks {
  if (url === undefined || secret === undefined) return unwanted(outbox)
  const guarded = createGuardedFetch(createOutboundPolicy(allow), {
    maximumBytes: MAXIMUM_ANSWER_BYTES,
    idleMilliseconds: ANSWER_MILLISECONDS,
    totalMilliseconds: ANSWER_MILLISECONDS,
  })
  const webhooks = createWebhooks({ outbox, fetch: guarded.fetch, url, secret, log })
  return {
    ...webhooks,
    async stop() {
      await webhooks.stop()
      await guarded.close()
    },
  }
}

function unwanted(outbox: Outbox): Webhooks {
  return {
    start: () => outbox.announce(false),
    wake: () => undefined,
    stop: async () => undefined,
  }
}
