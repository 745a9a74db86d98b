import { readBoundedText } from '@agent-server/lib/bounded-body.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import { z } from 'zod'

const E2B_URL = 'https://api.e2b.app'
/** The port of the daemon in each sandbox. */
const DAEMON_PORT = 49_983
const DEADLINE_MS = 30_000
const MAX_ANSWER_BYTES = 1_000_000
/** HTTP Basic credentials `user:`, naming the user that processes run as. */
const AS_USER = `Basic ${Buffer.from('user:').toString('base64')}`

const Created = z.object({
  sandboxID: z.string().regex(/^[\w-]{1,100}$/),
  envdAccessToken: z.string().nullish(),
  domain: z.string().nullish(),
})

export interface Access {
  apiKey: string
  /** The provider's URL, or that of a self-hosted installation; by default E2B's own. */
  apiUrl?: string | undefined
}

/** A sandbox at the provider, and how to reach the daemon in it. */
export interface RemoteSandbox {
  id: string
  daemon: { url: string; headers: Record<string, string> }
}

/** The part of the provider's API that is needed. Failures are AppError `sandbox_unavailable`, with the remedy. */
export function createE2bApi({ apiKey, apiUrl = E2B_URL }: Access) {
  async function call(method: string, path: string, signal: AbortSignal, body?: object) {
    const deadline = AbortSignal.timeout(DEADLINE_MS)
    const response = await fetch(`${apiUrl}${path}`, {
      method,
      headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
      signal: AbortSignal.any([signal, deadline]),
      ...(body && { body: JSON.stringify(body) }),
    }).catch((cause) => {
      signal.throwIfAborted()
      throw new AppError('sandbox_unavailable', NOT_REACHED, { cause })
    })
    const text = await readBoundedText(response, MAX_ANSWER_BYTES)
    if (response.ok || (method === 'DELETE' && response.status === 404)) return text
    throw new AppError('sandbox_unavailable', messageFor(response.status))
  }

  return {
    /** Resolves if the key is valid and the provider answers; creates nothing. */
    async check(signal: AbortSignal): Promise<void> {
      await call('GET', '/v2/sandboxes?limit=1', signal)
    },
    /** Creates a sandbox that the provider ends by itself after `seconds`. */
    async create(template: string, seconds: number, signal: AbortSignal): Promise<RemoteSandbox> {
      const answer = await call('POST', '/v2/sandboxes', signal, {
        templateID: template,
        timeout: seconds,
        allow_internet_access: false,
        envVars: {},
        metadata: { application: 'agent-server' },
      })
      const created = Created.parse(JSON.parse(answer))
      return { id: created.sandboxID, daemon: daemonOf(apiUrl, created) }
    },
    /** Resets the remaining lifetime to `seconds`, counted from now. */
    async extend(id: string, seconds: number, signal: AbortSignal): Promise<void> {
      await call('POST', `/sandboxes/${id}/timeout`, signal, { timeout: seconds })
    },
    /** Ends a sandbox; one that has already ended is not a failure. */
    async remove(id: string, signal: AbortSignal): Promise<void> {
      await call('DELETE', `/sandboxes/${id}`, signal)
    },
  }
}

function daemonOf(
  apiUrl: string,
  { sandboxID: id, envdAccessToken: token, domain }: z.output<typeof Created>,
): RemoteSandbox['daemon'] {
  const headers = {
    authorization: AS_USER,
    'connect-protocol-version': '1',
    'e2b-sandbox-id': id,
    'e2b-sandbox-port': String(DAEMON_PORT),
    ...(token && { 'x-access-token': token }),
  }
  const { hostname } = new URL(apiUrl)
  const zone = domain || (hostname.startsWith('api.') ? hostname.slice('api.'.length) : undefined)
  // A self-hosted installation without a domain has one address for all, and routes by headers.
  const url = zone === undefined ? apiUrl : `https://${DAEMON_PORT}-${id}.${zone}`
  return { url, headers }
}

const NOT_REACHED = 'The sandbox provider cannot be reached: check the network and E2B_API_URL'

function messageFor(status: number): string {
  if (status === 401 || status === 403)
    return 'The sandbox provider refused the key: check E2B_API_KEY'
  if (status === 404) return 'The sandbox provider has no such template: check sandbox.template'
  if (status === 429) return 'The sandbox provider allows no more sandboxes at the moment'
  return `The sandbox provider answers with status ${status}`
}
