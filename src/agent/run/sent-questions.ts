import { createHash } from 'node:crypto'
import { byShare } from '@agent-server/lib/by-share.ts'
import type { Visibility } from '@agent-server/lib/visibility.ts'
import type { ModelMessage } from '@agent-server/models'
import { ownerIdOf } from '@agent-server/schemas/operator/api-key.ts'
import type { Hit } from '@agent-server/schemas/query.ts'
import type { DocumentStore } from '@agent-server/stores'
import { type AgentRequest, visibilityOf } from '@agent-server/wire'

/**
 * Questions that are remembered, of which each key has a share, and the maximum UTF-16 code units of one with its
 * passages, and of all.
 */
const MAX_QUESTIONS = 1_000
const MAX_LENGTH = 65_536
const MAX_TOTAL = 16_000_000
/**
 * The longest time that OpenAI keeps an unused prompt cache; with a provider that keeps it for less, more is sent at
 * full price.
 */
const MAX_AGE_MS = 60 * 60_000

type Source = Pick<Hit, 'id' | 'documentId'>

interface SentQuestion {
  /** The id of the key. */
  owner: string | undefined
  /** With the passages. */
  content: string
  hits: readonly Source[]
  at: number
}

export type SentQuestions = ReturnType<typeof createSentQuestions>

/**
 * Remembers questions as they were sent, with their passages, so that the next turn of the conversation begins with
 * what the prompt cache of the model's server holds. A conversation is recognised by its owner and its messages. What
 * is forgotten, or came from a document that has changed since then, is sent without passages.
 */
export function createSentQuestions(documents: Pick<DocumentStore, 'getAll'>) {
  /** The least recently used first. */
  const cache = new Map<string, SentQuestion>()
  let total = 0

  return {
    /** The earlier questions of the request that are remembered, each with its text as it was sent. */
    async recall(request: AgentRequest): Promise<ReadonlyMap<ModelMessage, string>> {
      const remembered = keysOf(request)
        .slice(0, -1)
        .flatMap(({ key, question }) => {
          const sent = cache.get(key)
          return sent && sent.at + MAX_AGE_MS > performance.now() ? [{ key, question, sent }] : []
        })
      const hits = remembered.flatMap(({ sent }) => sent.hits)
      const isServed = await readServed(visibilityOf(request), hits)
      const current = remembered.filter(({ sent }) => sent.hits.every(isServed))
      for (const { key, sent } of current) keep(key, sent)
      return new Map(current.map(({ question, sent }) => [question, sent.content]))
    },
    /** Remembers how the request's own question was sent, with these hits. */
    keep(request: AgentRequest, content: string, hits: readonly Hit[]): void {
      const key = keysOf(request).at(-1)?.key
      if (key === undefined || hits.length === 0 || content.length > MAX_LENGTH) return
      const sources = hits.map(({ id, documentId }) => ({ id, documentId }))
      keep(key, { owner: ownerIdOf(request.caller), content, hits: sources })
      while (cache.size > MAX_QUESTIONS || total > MAX_TOTAL) {
        const [first] = byShare(cache, ([, { owner }]) => owner)
        if (first) forget(first[0])
      }
    },
  }

  function keep(key: string, sent: Omit<SentQuestion, 'at'>): void {
    forget(key)
    cache.set(key, { ...sent, at: performance.now() })
    total += sent.content.length
  }

  function forget(key: string): void {
    total -= cache.get(key)?.content.length ?? 0
    cache.delete(key)
  }

  /** Returns whether a hit is of what its document holds now. */
  async function readServed(
    visibility: Visibility,
    hits: readonly Source[],
  ): Promise<(hit: Source) => boolean> {
    const ids = [...new Set(hits.map(({ documentId }) => documentId))]
    const served = await documents.getAll(visibility, ids)
    return ({ id, documentId }) => {
      const document = served.get(documentId)
      return document !== undefined && id.startsWith(`${document.id}-${document.servedRevision}-`)
    }
  }
}

/** A digest of the conversation up to each question, in order, including its owner and visibility. */
function keysOf(request: AgentRequest) {
  const { messages, instructions } = request
  const hash = createHash('sha256')
  hash.update(JSON.stringify([ownerIdOf(request.caller), visibilityOf(request), instructions]))
  return messages.flatMap((message) => {
    hash.update(JSON.stringify([message.role, message.content]))
    return message.role === 'user' ? [{ key: hash.copy().digest('base64'), question: message }] : []
  })
}
