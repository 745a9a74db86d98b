import { readEmbeddings } from './read-embeddings.ts'
import { failureOfStatus, toUpstreamFailure, UpstreamFailure } from './upstream-failure.ts'

/** A request that takes longer is given up. */
const DEADLINE_MILLISECONDS = 60_000
const MOST_ERROR_BYTES = 64 * 1024
/** A batch of 32 vectors of 4,096 numbers takes a tenth of it. */
const MOST_ANSWER_BYTES = 32 * 2 ** 20

export interface EmbeddingServer {
  apiKey: string
  /** The address before `/embeddings`. */
  baseUrl: string
  model: string
}

/** One request, tried once: a unit vector per text. Throws UpstreamFailure, or what `signal` was aborted with. */
export async function requestEmbeddings(
  { apiKey, baseUrl, model }: EmbeddingServer,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<Float32Array<ArrayBuffer>[]> {
  const deadline = AbortSignal.timeout(DEADLINE_MILLISECONDS)
  try {
    const response = await fetch(`${baseUrl.replace(/\/+$/, '')}/embeddings`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${apiKey}`,
        'content-type': 'application/json',
        'user-agent': 'agent-server',
      },
      body: JSON.stringify({ model, input: texts, encoding_format: 'float' }),
      // A followed redirect would turn the POST into a GET, and the failure into a riddle.
      redirect: 'manual',
      signal: AbortSignal.any([signal, deadline]),
    })
    const limit = response.ok ? MOST_ANSWER_BYTES : MOST_ERROR_BYTES
    const body = await readText(response, limit)
    if (!response.ok) throw failureOfStatus(response.status, response.headers, body)
    if (body.trimStart().startsWith('<')) throw new UpstreamFailure({ kind: 'web-page' })
    return readEmbeddings(body, texts.length)
  } catch (error) {
    signal.throwIfAborted()
    if (deadline.aborted) throw new UpstreamFailure({ kind: 'timeout' })
    throw toUpstreamFailure(error)
  }
}

/** The body as text, or as much of it as is allowed. */
async function readText({ body }: Response, mostBytes: number): Promise<string> {
  if (!body) return ''
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const part of body) {
    parts.push(part)
    bytes += part.length
    if (bytes > mostBytes) break
  }
  return Buffer.concat(parts).toString('utf8', 0, mostBytes)
}
