import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { z } from 'zod'
import { serveScripted } from './scripted-server.ts'

const Body = z.object({
  model: z.string().optional(),
  query: z.string(),
  documents: z.array(z.string()).optional(),
  texts: z.array(z.string()).optional(),
  top_n: z.number().optional(),
})

export interface RerankRequest extends z.output<typeof Body> {
  path: string
  headers: IncomingMessage['headers']
}

/** What to answer instead of scores: a status and body, `hang` for nothing at all, `undefined` to rerank. */
export type RerankerReply = Answer | 'hang' | undefined

interface Answer {
  status: number
  body: unknown
  headers?: Record<string, string>
}

/** Whose requests and answers are spoken. */
export type RerankerKind = 'cohere' | 'voyage' | 'tei'

export interface ScriptedReranker {
  /** The base URL for `RERANK_BASE_URL`. */
  readonly url: string
  readonly requests: readonly RerankRequest[]
  kind: RerankerKind
  /** Asked before each answer; nothing reranks. */
  reply: (request: RerankRequest) => RerankerReply
  close(): Promise<void>
}

/** As many texts as Text Embeddings Inference takes at once. */
const MAX_TEXTS = 32

/**
 * A fake reranking server on 127.0.0.1: no model, a text scores by the part of the question's words that it
 * holds. Closes itself when started inside a test; elsewhere, call `close`.
 */
export async function startScriptedReranker(
  kind: RerankerKind = 'cohere',
): Promise<ScriptedReranker> {
  const requests: RerankRequest[] = []

  const answer = async (incoming: IncomingMessage, response: ServerResponse) => {
    const body = Body.parse(JSON.parse(await text(incoming)))
    const request = { ...body, path: incoming.url ?? '', headers: incoming.headers }
    requests.push(request)
    const reply = reranker.reply(request)
    if (reply === 'hang') return
    const { status, body: content, headers } = reply ?? rankingOf(request, reranker.kind)
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(typeof content === 'string' ? content : JSON.stringify(content))
  }
  const served = await serveScripted(answer)

  const reranker: ScriptedReranker = {
    ...served,
    requests,
    kind,
    reply: () => undefined,
  }
  return reranker
}

function rankingOf({ query, documents, texts }: RerankRequest, kind: RerankerKind): Answer {
  const list = kind === 'tei' ? texts : documents
  const missing = `Failed to deserialize the JSON body: missing field \`texts\` at line 1`
  if (!list) return { status: 422, body: { error: missing, error_type: 'Validation' } }
  if (kind === 'tei' && list.length > MAX_TEXTS) {
    return {
      status: 422,
      body: { error: 'batch size > maximum allowed', error_type: 'Validation' },
    }
  }
  const results = list
    .map((each, index) => ({ index, score: sharedPart(query, each) }))
    .sort((a, b) => b.score - a.score)
  if (kind === 'tei') return { status: 200, body: results }
  const named = results.map(({ index, score }) => ({ index, relevance_score: score }))
  return { status: 200, body: kind === 'voyage' ? { data: named } : { results: named } }
}

function sharedPart(query: string, document: string): number {
  const words = query.toLowerCase().match(/\p{L}+/gu) ?? []
  const held = new Set(document.toLowerCase().match(/\p{L}+/gu))
  return words.filter((word) => held.has(word)).length / Math.max(1, words.length)
}
