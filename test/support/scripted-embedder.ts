import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { z } from 'zod'
import { serveScripted } from './scripted-server.ts'

const Body = z.object({ model: z.string(), input: z.array(z.string()) })

export interface EmbeddingRequest extends z.output<typeof Body> {
  path: string
  headers: IncomingMessage['headers']
  encodingFormat: unknown
}

/** What to answer instead of vectors: a status and body, `hang` for nothing at all, `undefined` to embed. */
export type EmbedderReply =
  | { status: number; body: unknown; headers?: Record<string, string> }
  | 'hang'
  | undefined

export interface ScriptedEmbedder {
  /** The base URL for `EMBEDDING_BASE_URL`. */
  readonly url: string
  readonly requests: readonly EmbeddingRequest[]
  /** The most requests that were under way at once. */
  readonly mostAtOnce: number
  dimension: number
  /** Asked before each answer; nothing embeds. */
  reply: (request: EmbeddingRequest) => EmbedderReply
  close(): Promise<void>
}

const WORDS = /[\p{L}\p{N}]+/gu
const SYNONYMS: Record<string, string> = { automobile: 'car', physician: 'doctor', purchase: 'buy' }

/**
 * A fake embedding server on 127.0.0.1: no model, but words hashed into a vector, with a few synonyms that
 * words alone cannot know. Closes itself, but in a hook.
 */
export async function startScriptedEmbedder(): Promise<ScriptedEmbedder> {
  const requests: EmbeddingRequest[] = []
  let atOnce = 0
  let mostAtOnce = 0

  const answer = async (incoming: IncomingMessage, response: ServerResponse) => {
    const json = JSON.parse(await text(incoming))
    const request = {
      ...Body.parse(json),
      path: incoming.url ?? '',
      headers: incoming.headers,
      encodingFormat: json.encoding_format,
    }
    requests.push(request)
    mostAtOnce = Math.max(mostAtOnce, ++atOnce)
    await new Promise((resolve) => setImmediate(resolve))
    atOnce--
    const reply = embedder.reply(request)
    if (reply === 'hang') return
    const { status, body, headers } = reply ?? {
      status: 200,
      body: embeddingsOf(request.input, embedder.dimension),
    }
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  }
  const served = await serveScripted(answer)

  const embedder: ScriptedEmbedder = {
    ...served,
    requests,
    get mostAtOnce() {
      return mostAtOnce
    },
    dimension: 64,
    reply: () => undefined,
  }
  return embedder
}

export function embeddingsOf(texts: readonly string[], dimension: number) {
  return {
    object: 'list',
    data: texts.map((each, index) => ({
      object: 'embedding',
      index,
      embedding: hashedWords(each, dimension),
    })),
  }
}

/** The same words give the same direction, whatever their order. */
function hashedWords(content: string, dimension: number): number[] {
  const vector = new Array<number>(dimension).fill(0)
  vector[0] = 0.01
  for (const [word] of content.toLowerCase().matchAll(WORDS)) {
    const place = hash(SYNONYMS[word] ?? word) % dimension
    vector[place] = (vector[place] ?? 0) + 1
  }
  return vector
}

function hash(word: string): number {
  let value = 2_166_136_261
  for (const character of word)
    value = Math.imul(value ^ (character.codePointAt(0) ?? 0), 16_777_619)
  return value >>> 0
}
