import { namesVariable, SECRET_HEADER, withoutVariables } from '@agent-server/lib/environment.ts'
import { boundedText } from '@agent-server/lib/fields.ts'
import { z } from 'zod'
import { APPROVALS } from '../tools/define-tool.ts'

const MAX_CONNECTIONS = 32
const MAX_HEADERS = 32
const MAX_ALLOWED_TOOLS = 500
const DEFAULT_TIMEOUT_SECONDS = 60
const MAX_TIMEOUT_SECONDS = 600
const DEFAULT_LIST_SECONDS = 10
const MAX_LIST_SECONDS = 120

// biome-ignore lint/suspicious/noTemplateCurlyInString: this is how it is to be written
const NO_SECRET = 'must come from a ${VARIABLE}: secrets do not belong in this file'

const Secret = boundedText(8_000).refine(namesVariable, NO_SECRET)

const Url = boundedText(2_000).refine(isCallable, {
  message: 'must be a URL that begins with http:// or https://, without a user or a password',
})

const Headers = z
  .record(
    z.string().regex(/^[!#$%&'*+.^_`|~\w-]{1,100}$/, 'must be a header name'),
    boundedText(8_000),
  )
  .superRefine((headers, context) => {
    for (const [name, value] of Object.entries(headers)) {
      if (!SECRET_HEADER.test(name) || namesVariable(value)) continue
      context.addIssue({ code: 'custom', path: [name], message: NO_SECRET })
    }
  })
  .refine((headers) => Object.keys(headers).length <= MAX_HEADERS, {
    message: `must be at most ${MAX_HEADERS} headers`,
  })

const OAuth = z
  .strictObject({
    per: z
      .literal('person')
      .optional()
      .describe('Each person signs in with an account of their own. Not set: this server does.'),
    clientId: boundedText(1_000)
      .optional()
      .describe('Client id at the authorization server. Not set, with `per`: it registers itself.'),
    clientSecret: Secret.optional().describe('Its secret, which must come from a variable.'),
    scope: boundedText(1_000).optional().describe('Scopes to ask for, separated by spaces.'),
    issuer: Url.optional().describe('The only authorization server that may receive the secret.'),
  })
  .superRefine(({ per, ...client }, context) => {
    for (const name of ['clientId', 'clientSecret'] as const) {
      if (per || client[name] !== undefined) continue
      context.addIssue({ code: 'custom', path: [name], message: 'is required without `per`' })
    }
  })

const McpServer = z
  .strictObject({
    type: z
      .enum(['http', 'streamable-http', 'sse'])
      .optional()
      .describe('Transport. Not set: streamable HTTP, then SSE.'),
    url: Url.describe('Address of the server.'),
    headers: Headers.default({}).describe(
      'HTTP headers, sent to this server only; a secret must come from a variable.',
    ),
    oauth: OAuth.optional().describe(
      'Signs in with OAuth: with client credentials, or each person with their own account.',
    ),
    enabled: z.boolean().default(true).describe('`false`: not used, but can be tested.'),
    allowTools: z
      .array(boundedText(128))
      .max(MAX_ALLOWED_TOOLS)
      .optional()
      .describe('The tools to use. Not set: all.'),
    approval: z
      .union([z.enum(APPROVALS), z.array(boundedText(128)).max(MAX_ALLOWED_TOOLS)])
      .optional()
      .describe('Whether every call, or those of the named tools, need the client’s approval.'),
    timeout: z
      .int()
      .min(1)
      .max(MAX_TIMEOUT_SECONDS)
      .default(DEFAULT_TIMEOUT_SECONDS)
      .describe('Seconds without progress after which a call is cancelled.'),
    listTimeout: z
      .int()
      .min(1)
      .max(MAX_LIST_SECONDS)
      .default(DEFAULT_LIST_SECONDS)
      .describe('Seconds that the server may take to list its tools.'),
    command: z
      .never({ error: 'is not supported: servers are only reached by their url, not started here' })
      .optional(),
  })
  .meta({ id: 'McpServer', description: 'A connection, under the name that its tools carry.' })

/** Connections by name, in the shape that code editors use. */
export const McpServers = z
  .record(
    z
      .string()
      .max(32)
      .regex(
        /^[A-Za-z0-9]+(?:[_-][A-Za-z0-9]+)*$/,
        'must be letters and digits, with single hyphens or underscores between them',
      ),
    McpServer,
  )
  .refine((servers) => Object.keys(servers).length <= MAX_CONNECTIONS, {
    message: `must be at most ${MAX_CONNECTIONS} servers`,
  })

export type McpServer = z.output<typeof McpServer>

function isCallable(text: string): boolean {
  const url = URL.parse(withoutVariables(text))
  return (
    url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === ''
  )
}
