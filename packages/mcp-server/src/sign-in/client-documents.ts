import { readBoundedText } from '@agent-server/lib/bounded-body.ts'
import { keepNewest } from '@agent-server/lib/keep-newest.ts'
import { createLimiter, TooManyWaiting } from '@agent-server/lib/limiter.ts'
import { createGuardedFetch, OutboundError } from '@agent-server/lib/outbound/guarded-fetch.ts'
import { createOutboundPolicy } from '@agent-server/lib/outbound/policy.ts'
import { parseJson } from '@agent-server/lib/text/json.ts'
import { z } from 'zod'
import { MAX_URI, OAuthRefusal, RedirectUri, Registration } from './registration.ts'

const MAX_BYTES = 10_000
const FETCH_MS = 5_000
const QUEUE_MS = 5_000
const MAX_FETCHES = 4
const MAX_WAITING = 20
const CACHE_MS = 5 * 60_000
const MAX_CACHED = 100
const MAX_REDIRECT_URIS = 20

const ClientDocument = Registration.extend({
  client_id: z.string(),
  client_secret: z.undefined('must not be published').optional(),
  token_endpoint_auth_method: z.literal('none', 'must be none').default('none'),
  redirect_uris: z
    .array(z.string())
    .max(MAX_REDIRECT_URIS)
    .transform((uris) => uris.filter((uri) => RedirectUri.safeParse(uri).success))
    .refine((uris) => uris.length > 0, 'has none that is https, or http on this machine'),
})

type Client = z.output<typeof ClientDocument>
export type ClientDocuments = ReturnType<typeof createClientDocuments>

/**
 * Reads the metadata of clients whose `client_id` is the URL of a document about them (OAuth Client ID Metadata
 * Documents). Anybody can name a URL, therefore downloads, cache and waiting time are bounded.
 */
export function createClientDocuments(allow: readonly string[]) {
  const outbound = createGuardedFetch(createOutboundPolicy(allow), {
    maxBytes: MAX_BYTES,
    idleMs: FETCH_MS,
    totalMs: FETCH_MS,
  })
  const turns = createLimiter({
    name: 'documents about programs',
    capacity: MAX_FETCHES,
    maxWaiting: MAX_WAITING,
  })
  const cache = new Map<string, { client: Client; until: number }>()

  const fetchDocument = async (id: string) => {
    const response = await outbound.fetch(id, {
      headers: { accept: 'application/json' },
      redirect: 'manual',
    })
    if (response.status === 200) return readBoundedText(response, MAX_BYTES)
    await response.body?.cancel()
    throw refusal(`its URL answers with status ${response.status}`)
  }

  return {
    /** For a visitor at this address. Throws OAuthRefusal. */
    async read(id: string, address: string): Promise<Client> {
      checkUrl(id)
      const cached = cache.get(id)
      if (cached && cached.until > performance.now()) return cached.client
      const text = await turns
        .run(address, () => fetchDocument(id), AbortSignal.timeout(QUEUE_MS))
        .catch(explain)
      const client = parse(id, text)
      keepNewest(cache, id, { client, until: performance.now() + CACHE_MS }, MAX_CACHED)
      return client
    },
    close: outbound.close,
  }
}

/** As written, since the document must name its own URL in the same letters. */
function checkUrl(id: string): void {
  const url = URL.parse(id)
  const isPlain = url?.href === id && id.length <= MAX_URI && /^[a-z0-9.-]+$/.test(url.hostname)
  if (isPlain && url.pathname !== '/' && !url.hash && !url.username && !url.password) return
  throw refusal(
    'its URL must be https with a path, without user and fragment, as browsers write it',
  )
}

function parse(id: string, text: string): Client {
  const { data, error } = ClientDocument.safeParse(parseJson(text))
  if (data?.client_id === id) return data
  if (data) throw refusal('its client_id is not its URL')
  const [issue] = error.issues
  const [field] = issue?.path ?? []
  throw refusal(
    field === undefined ? 'it is not a JSON object' : `${String(field)}: ${issue?.message}`,
  )
}

function explain(error: unknown): never {
  if (error instanceof OutboundError) {
    // Strangers must not learn which names and hosts there are within the network.
    const isOfHost = error.kind === 'forbidden' || error.kind === 'unreachable'
    throw refusal(isOfHost ? 'it could not be read' : error.message)
  }
  if (error instanceof TooManyWaiting) throw refusal('too many are being read; try again soon')
  if (error instanceof DOMException) throw refusal('it could not be read in time; try again soon')
  throw error
}

const refusal = (reason: string) =>
  new OAuthRefusal('invalid_client', `The document about this program was not accepted: ${reason}`)
