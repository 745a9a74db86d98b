import type { FastifyBaseLogger } from 'fastify'
import type { Config } from '../config.ts'
import { createGuardedFetch, refusalOf } from '../lib/outbound/guarded-fetch.ts'
import { createOutboundPolicy } from '../lib/outbound/policy.ts'
import { checkDimension, checkEmbedding, createEmbedding } from '../services/embedding/embedding.ts'
import { createStaging, type Staging, swapStaged } from '../services/embedding/re-embed.ts'
import { createExtractor } from '../services/extraction/extractor.ts'
import { createSources } from '../services/ingestion/sources.ts'
import { createWebhooks, type Webhooks } from '../services/webhooks/webhooks.ts'
import type { DocumentStore, VectorReplacement } from '../stores/document-store.ts'
import type { Outbox } from '../stores/outbox.ts'
import { createEmbedder, createNextEmbedder } from './models.ts'

/** For the chunks that lack a vector of the new model when the server starts with it. */
const SWAP_MS = 120_000

interface EmbeddingStore extends DocumentStore {
  readonly replacement: VectorReplacement
}

/** Throws where the vectors that are kept are not of the model that is configured, nor made already; the store is closed then. */
export async function openEmbedding(config: Config, store: EmbeddingStore, log: FastifyBaseLogger) {
  const { EMBEDDING_MODEL: model } = config
  if (model === undefined) return undefined
  try {
    await swapStaged(
      {
        ...{ store, replacement: store.replacement, log },
        createEmbedder: () => createEmbedder(config, model, undefined, log),
      },
      model,
      AbortSignal.timeout(SWAP_MS),
    )
    const dimension = await checkEmbedding(store, model)
    const embedder = await createEmbedder(config, model, dimension, log)
    await checkDimension(embedder)
    return createEmbedding({ embedder, log })
  } catch (error) {
    await store.close()
    throw error
  }
}

/** Makes the vectors of the model to change to, if there is one. */
export async function openStaging(
  config: Config,
  store: EmbeddingStore,
  log: FastifyBaseLogger,
): Promise<Staging | undefined> {
  const embedder = await createNextEmbedder(config, log)
  return embedder && createStaging({ store, replacement: store.replacement, embedder, log })
}

/** Reading the text out of one file; ten thousand pages take about a minute. */
const DEADLINE_MS = 300_000
/** Each may take several hundred megabytes while it reads. */
const PROCESSES = 2

/** What reads the text of documents that were sent as files. */
export function openReading(store: Pick<DocumentStore, 'readFile'>, log: FastifyBaseLogger) {
  const extractor = createExtractor({
    ...{ processes: PROCESSES, deadlineMs: DEADLINE_MS, log },
  })
  return { openSource: createSources({ store, extractor }), close: extractor.close }
}

/** What a receiver answers is not read, but for its status. */
const MAX_ANSWER_BYTES = 64 * 1024
const ANSWER_MS = 20_000

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
    maximumBytes: MAX_ANSWER_BYTES,
    idleMs: ANSWER_MS,
    totalMs: ANSWER_MS,
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
