import { z } from 'zod'
import { Artifact } from './artifact.ts'
import { boundedText, freeObject, optional, optionalOr, State } from './fields.ts'

export const McpTransport = z.enum(['streamable-http', 'sse'])

export const McpConnectionParams = z.object({ connection: boundedText(64) })

export const McpTestRequest = z
  .object({
    accept: optionalOr(z.boolean(), false).describe(
      'Accept the definitions that `digest` names; tools that are new or changed can be used from then on.',
    ),
    digest: optional(boundedText(64)).describe(
      'With `accept`: that of the answer whose tools you have looked at. Where the server has others by now, nothing is accepted.',
    ),
    tool: optional(boundedText(128)).describe(
      'A tool to call, by the name that the server has for it.',
    ),
    arguments: optionalOr(freeObject(), {}).describe('What the tool is called with.'),
  })
  .meta({
    id: 'McpTestRequest',
    examples: [{ accept: false, tool: 'echo', arguments: { message: 'Hello' } }],
  })

const Step = z.object({
  step: z.enum(['configuration', 'connect', 'list-tools', 'accept', 'call-tool']),
  ok: z.boolean(),
  milliseconds: z.number(),
  message: z.string().optional().describe('Why it failed, or what was found.'),
})

const TestedTool = z.object({
  name: z.string().describe('As the model sees it.'),
  remoteName: z.string().describe('As the server has it.'),
  description: z.string(),
  state: State,
  reason: z.string().optional(),
})

export const McpTestResult = z
  .object({
    connection: z.string(),
    ok: z.boolean().describe('Whether every step succeeded.'),
    steps: z.array(Step),
    server: z
      .object({
        name: z.string(),
        version: z.string(),
        transport: McpTransport,
        protocol: z.string().describe('Revision of the protocol.'),
      })
      .optional(),
    digest: z.string().describe('Of the definitions of all tools, to accept these and no others.'),
    tools: z.array(TestedTool),
    output: z.string().optional().describe('What the tool answered, for the model.'),
    artifacts: z.array(Artifact).optional(),
  })
  .meta({ id: 'McpTestResult' })

export type McpTestRequest = z.output<typeof McpTestRequest>
export type McpTestResult = z.output<typeof McpTestResult>
export type McpTestStep = z.output<typeof Step>

/** A protocol message; the protocol's own code checks it. */
export const McpMessage = freeObject().meta({
  id: 'McpMessage',
  description: 'A JSON-RPC 2.0 message.',
  examples: [
    {
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: {
        protocolVersion: '2025-11-25',
        capabilities: {},
        clientInfo: { name: 'example', version: '1' },
      },
    },
  ],
})

export const McpAnswer = z
  .record(z.string(), z.unknown())
  .meta({ id: 'McpAnswer', description: 'A JSON-RPC 2.0 message.' })
