import { type Environment, expandVariables } from '../../lib/expand-variables.ts'
import type { Fetch, SessionTarget, TransportKind } from './open-session.ts'
import type { McpServer } from './server-settings.ts'

/** What a server without a `type` may speak, the current way first. */
const ANY_TRANSPORT: readonly TransportKind[] = ['streamable-http', 'sse']

/** Where and how to connect, the variables filled in. Throws `MissingVariable`. */
export function toSessionTarget(
  { url, type, headers, oauth }: McpServer,
  environment: Environment,
  fetch: Fetch,
): SessionTarget {
  const fill = (text: string) => expandVariables(text, environment)
  const filled = Object.entries(headers).map(([name, value]) => [name, fill(value).trim()])
  return {
    fetch,
    url: new URL(fill(url)),
    headers: Object.fromEntries(filled),
    transports: transportsOf(type),
    ...(oauth && {
      oauth: {
        clientId: fill(oauth.clientId),
        clientSecret: fill(oauth.clientSecret),
        scope: oauth.scope,
        issuer: oauth.issuer,
      },
    }),
  }
}

function transportsOf(type: McpServer['type']): readonly TransportKind[] {
  if (type === undefined) return ANY_TRANSPORT
  return [type === 'sse' ? 'sse' : 'streamable-http']
}
