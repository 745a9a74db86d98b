import { limitByAddress } from '@agent-server/http/limit-by-address.ts'
import { groupRoutes } from '@agent-server/http/reference.ts'
import { callSignal } from '@agent-server/http/shutdown.ts'
import {
  isFromWebUi,
  readCookie,
  SIGN_IN_PATH,
  setCookie,
} from '@agent-server/http/web-ui-access.ts'
import { errorResponses } from '@agent-server/schemas/error.ts'
import {
  McpAccountList,
  McpAccountQuery,
  McpAccountStart,
  McpConnectionParams,
} from '@agent-server/schemas/mcp.ts'
import { requireAccountOwner } from '@agent-server/schemas/operator/api-key.ts'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { Mcp } from '../agent/mcp/mcp.ts'
import { type Audit, whoOf } from '../operator/audit/audit.ts'
import { PENDING_SECONDS } from '../operator/people/company-accounts.ts'
import { MAX_REQUESTS, originOf, orPage } from './sign-in.ts'

/** One for each connection: an authorisation server cannot have an answer taken for that of another one (RFC 9700, 4.4.2). */
const callbackPath = (connection: string) => `${SIGN_IN_PATH}/account/${connection}`

const ACCOUNTS_PATH = '/#/accounts'
const FAILURE_PAGE = {
  title: 'Account not connected',
  path: ACCOUNTS_PATH,
  link: 'Back to your accounts',
}

export interface McpAccountServices {
  host: {
    use<Result>(work: (agent: { mcp: Pick<Mcp, 'accounts'> }) => Promise<Result>): Promise<Result>
  }
  audit: Pick<Audit, 'record'>
  publicUrl?: string | undefined
}

/** The accounts of people at MCP servers at which each person has their own. */
export const mcpAccountRoutes: FastifyPluginAsyncZod<McpAccountServices> = async (
  app,
  services,
) => {
  app.register(accountRoutes, services)
  app.register(callbackRoute, services)
}

const accountRoutes: FastifyPluginAsyncZod<McpAccountServices> = async (
  app,
  { host, audit, publicUrl },
) => {
  groupRoutes(app, 'agent', ['chat'])
  app.get('/agent/accounts', {
    schema: {
      operationId: 'listMcpAccounts',
      summary: 'List your accounts at MCP servers',
      description:
        'Returns the connections at which each person has an account of their own, and whether yours is connected.',
      response: {
        200: McpAccountList.describe('The connections, and your accounts.'),
        ...errorResponses(),
      },
    },
    handler: async ({ caller }) => {
      const owner = requireAccountOwner(caller)
      return { accounts: await host.use(({ mcp }) => mcp.accounts.list(owner)) }
    },
  })

  app.post('/agent/accounts/:connection', {
    schema: {
      operationId: 'connectMcpAccount',
      summary: 'Begin to connect your account at an MCP server',
      description:
        'Returns the address that you open in a browser: from the web UI, the page of the server at which you allow access; otherwise the page of the web UI from which that begins, as only the browser that began it can finish it.',
      params: McpConnectionParams,
      response: {
        200: McpAccountStart.describe('Where to go on.'),
        ...errorResponses(404, 502),
      },
    },
    handler: (request, reply) =>
      host.use(async ({ mcp }) => {
        const owner = requireAccountOwner(request.caller)
        const { connection } = request.params
        if (!isFromWebUi(request)) return { url: mcp.accounts.page(connection) }
        const redirectUri = `${originOf(request, publicUrl)}${callbackPath(encodeURIComponent(connection))}`
        const signal = callSignal(reply)
        const { url, sealed } = await mcp.accounts.begin(connection, owner, redirectUri, signal)
        const cookie = { publicUrl, value: sealed, seconds: PENDING_SECONDS }
        reply.header('set-cookie', setCookie(request, { ...cookie, kind: 'account' }))
        return { url }
      }),
  })

  app.delete('/agent/accounts/:connection', {
    schema: {
      operationId: 'disconnectMcpAccount',
      summary: 'Disconnect your account at an MCP server',
      description:
        'Deletes its tokens. What runs with them at the moment ends with an error. Administrators can disconnect the account of a `person`.',
      params: McpConnectionParams,
      querystring: McpAccountQuery,
      response: { 204: z.undefined().describe('It is not connected.'), ...errorResponses() },
    },
    handler: async ({ params: { connection }, query: { person }, caller, ip }, reply) => {
      const owner = requireAccountOwner(caller, person)
      if (await host.use(({ mcp }) => mcp.accounts.remove({ owner, connection }))) {
        const { key } = caller
        const targets = {
          connection,
          ...(person !== undefined && { person }),
          ...(caller.person && key && { by: `key:${key.id}` }),
        }
        await audit.record({
          who: whoOf(caller),
          address: ip,
          action: 'accountDisconnected',
          targets,
        })
      }
      return reply.status(204).send()
    },
  })
}

/** Reached from the authorisation server's page, without a session: what the browser has kept says whose account it is. */
const callbackRoute: FastifyPluginAsyncZod<McpAccountServices> = async (
  app,
  { host, audit, publicUrl },
) => {
  const cookie = { kind: 'account', publicUrl } as const
  app.get(callbackPath(':connection'), {
    onRequest: limitByAddress(MAX_REQUESTS),
    config: { public: true },
    schema: { hide: true, params: McpConnectionParams },
    exposeHeadRoute: false,
    handler: (request, reply) =>
      orPage(
        reply,
        async () => {
          const done = { ...cookie, value: '', seconds: 0 }
          reply.headers({
            'cache-control': 'no-store',
            'referrer-policy': 'no-referrer',
            'set-cookie': setCookie(request, done),
          })
          const query = new URLSearchParams(request.url.split('?')[1] ?? '')
          const sealed = readCookie(request, cookie) ?? ''
          const { connection } = request.params
          const owner = await host.use(({ mcp }) =>
            mcp.accounts.finish(connection, query, sealed, callSignal(reply)),
          )
          const targets = { connection }
          await audit.record({
            who: owner,
            address: request.ip,
            action: 'accountConnected',
            targets,
          })
          return reply.redirect(ACCOUNTS_PATH, 303)
        },
        FAILURE_PAGE,
      ),
  })
}
