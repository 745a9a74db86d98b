import type { EventEmitter } from 'node:events'
import { publicOrigin } from '@agent-server/http/public-origin.ts'
import { checkOrigin } from '@agent-server/http/security.ts'
import { callSignal } from '@agent-server/http/shutdown.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import { createLimiter } from '@agent-server/lib/limiter.ts'
import { ErrorBody, errorResponses } from '@agent-server/schemas/error.ts'
import { McpAnswer, McpMessage } from '@agent-server/schemas/mcp.ts'
import { shareOf } from '@agent-server/schemas/operator/api-key.ts'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { createHandler, McpDependencies } from './server.ts'

/** The maximum number of streams that wait for notifications, over all clients. */
const MAX_SUBSCRIPTIONS = 64
const RETRY_AFTER_SECONDS = 5
const Subscription = z.object({ method: z.literal('subscriptions/listen') })
const isSubscription = (body: unknown) => Subscription.safeParse(body).success

interface Services extends McpDependencies {
  /** Emits `changed` when the agent has other skills, or there are other agents. */
  agentChanges: EventEmitter<{ changed: [] }>
  corsOrigin?: string[] | undefined
  /** The origin at which others reach the server. */
  publicUrl?: string | undefined
}

export const mcpRoutes: FastifyPluginAsyncZod<Services> = async (app, services) => {
  const { corsOrigin = [], publicUrl, agentChanges } = services
  let opened: ReturnType<typeof createHandler> | undefined
  // Loaded on first use, since that takes a tenth of a second.
  const load = async () => {
    const { createHandler } = await import('./server.ts')
    opened ??= createHandler(services)
    return opened
  }
  const announce = () => opened?.agentChanged()
  agentChanges.on('changed', announce)
  app.addHook('onClose', async () => {
    agentChanges.off('changed', announce)
    await opened?.close()
  })
  const subscriptions = createLimiter({ name: 'subscriptions', capacity: MAX_SUBSCRIPTIONS })
  const takePlace = ({ caller }: FastifyRequest, reply: FastifyReply) => {
    // No `close` would follow to give the place back.
    if (reply.raw.destroyed) return
    const leave = subscriptions.take(shareOf(caller))
    if (!leave) {
      const message = 'Too many streams wait for notifications; try again shortly'
      throw new AppError('too_many_requests', message, { retryAfter: RETRY_AFTER_SECONDS })
    }
    reply.raw.once('close', leave)
  }
  const onRequest = async ({ headers }: FastifyRequest) => checkOrigin(headers.origin, corsOrigin)
  const handler = async (request: FastifyRequest, reply: FastifyReply) => {
    const { fetch } = await load()
    if (isSubscription(request.body)) takePlace(request, reply)
    const { caller, ip: address, body } = request
    return reply.send(await fetch(toWebRequest(request, reply), body, { caller, address }))
  }

  // One of these opens the endpoint; each tool checks the scopes that it needs itself.
  const config = {
    scopes: ['query', 'chat', 'ingest'] as const,
    recordsChanges: true,
    challenge: (request: FastifyRequest) => challengeAt(publicOrigin(request, publicUrl), request),
    toErrorBody,
  }
  app.post('/mcp', {
    config,
    onRequest,
    schema: {
      operationId: 'mcp',
      summary: 'Model Context Protocol endpoint (streamable HTTP)',
      description:
        'Gives editors and assistants access to the documents and the agent: the tools `query`, `get_document`, `search`, `fetch`, `ask` and `add_document`, documents as resources, and the agent’s skills as prompts. What is offered depends on the scopes of the key. See docs/guides/mcp.md.',
      tags: ['agent'],
      body: McpMessage,
      response: {
        200: {
          description: 'The response, or a stream that ends with it.',
          content: {
            'application/json': { schema: McpAnswer },
            'text/event-stream': { schema: McpAnswer },
          },
        },
        202: z.undefined().describe('The notification was accepted.'),
        ...errorResponses(403, 405),
        401: {
          description: 'The key is missing, invalid, revoked or expired.',
          content: { 'application/json': { schema: McpAnswer } },
        },
        400: {
          description: 'The request or the protocol message is invalid.',
          content: { 'application/json': { schema: z.union([ErrorBody, McpAnswer]) } },
        },
        406: {
          description: '`Accept` must include both application/json and text/event-stream.',
          content: { 'application/json': { schema: McpAnswer } },
        },
      },
    },
    handler,
  })
  // The answer to these depends on the protocol version.
  app.route({
    method: ['GET', 'DELETE'],
    url: '/mcp',
    exposeHeadRoute: false,
    schema: { hide: true },
    config,
    onRequest,
    handler,
  })
}

/** Clients expect JSON-RPC where they are to sign in; what the server refuses else has the one envelope. */
function toErrorBody(body: ErrorBody): object {
  const { code, message } = body.error
  if (code !== 'unauthorized') return body
  return { jsonrpc: '2.0', error: { code: -32_001, message, data: body.error }, id: null }
}

/** Says where a client finds out how to sign in (RFC 9728). */
function challengeAt(origin: string | undefined, { headers }: FastifyRequest): string {
  if (origin === undefined) return 'Bearer'
  const error = headers.authorization === undefined ? '' : 'error="invalid_token", '
  const metadata = `${origin}/.well-known/oauth-protected-resource/mcp`
  return `Bearer ${error}resource_metadata="${metadata}", scope="query chat"`
}

function toWebRequest({ method, headers }: FastifyRequest, reply: FastifyReply): Request {
  const sent = Object.entries(headers).map(([name, value]) => [name, String(value)])
  // A fixed host, since the caller's own may be missing.
  return new Request('http://localhost/mcp', {
    method,
    headers: Object.fromEntries(sent),
    signal: callSignal(reply),
  })
}
