import { boundedText, freeObject, optional, optionalOr } from '@agent-server/lib/fields.ts'
import { z } from 'zod'
import { Artifact } from './artifact.ts'
import { State } from './fields.ts'

export const McpTransport = z.enum(['streamable-http', 'sse'])

export const McpConnectionParams = z.object({
  connection: boundedText(64).describe('Name of the connection in `agent.json`.'),
})

export const McpTestRequest = z
  .object({
    accept: optionalOr(z.boolean(), false).describe(
      'Accept the tool definitions identified by `digest`, so that new or changed tools can be used.',
    ),
    digest: optional(boundedText(64)).describe(
      'Required with `accept`: the `digest` of the test result you have reviewed. If the server’s tools have changed since, nothing is accepted.',
    ),
    tool: optional(boundedText(128)).describe(
      'Name of a tool to call, as the MCP server names it.',
    ),
    arguments: optionalOr(freeObject(), {}).describe('Arguments of the tool call.'),
  })
  .meta({
    id: 'McpTestRequest',
    examples: [{ accept: false, tool: 'echo', arguments: { message: 'Hello' } }],
  })

export const McpAccountList = z
  .object({
    accounts: z
      .array(
        z.object({
          connection: z.string().describe('Name of the connection in `agent.json`.'),
          connectedAt: z.iso
            .datetime()
            .optional()
            .describe('When you connected your account; absent if it is not connected.'),
        }),
      )
      .describe('In the order of `agent.json`.'),
  })
  .meta({ id: 'McpAccountList' })

export const McpAccountStart = z
  .object({ url: z.string().describe('The address to open in a browser.') })
  .meta({ id: 'McpAccountStart' })

export const McpAccountQuery = z.object({
  person: optional(boundedText(300)).describe(
    'Whose account it is, for administrators; yours if absent.',
  ),
})

const Step = z.object({
  step: z
    .enum(['configuration', 'connect', 'list-tools', 'accept', 'call-tool'])
    .describe('Name of the step.'),
  ok: z.boolean().describe('Whether the step succeeded.'),
  milliseconds: z.number().describe('Duration in milliseconds.'),
  message: z.string().optional().describe('The result of the step, or why it failed.'),
  unlistedHost: z
    .string()
    .optional()
    .describe('The host that is not public and would have to be listed in OUTBOUND_ALLOW.'),
})

const TestedTool = z.object({
  name: z.string().describe('The name shown to the model.'),
  remoteName: z.string().describe('The name on the MCP server.'),
  description: z.string().describe('What the tool does, in the words of the MCP server.'),
  state: State,
  reason: z.string().optional().describe('Why the tool cannot be used.'),
})

export const McpTestResult = z
  .object({
    connection: z.string().describe('Name of the connection in `agent.json`.'),
    ok: z.boolean().describe('Whether every step succeeded.'),
    steps: z.array(Step).describe('The steps taken, in order; a failed step is the last.'),
    server: z
      .object({
        name: z.string().describe('Name of the MCP server.'),
        version: z.string().describe('Version of the MCP server.'),
        transport: McpTransport.describe('The transport in use.'),
        protocol: z.string().describe('Version of the Model Context Protocol that both speak.'),
      })
      .optional()
      .describe('What the MCP server says about itself; absent if it was not reached.'),
    digest: z
      .string()
      .describe('Identifies these tool definitions, so that exactly these can be accepted.'),
    tools: z.array(TestedTool).describe('The tools that the MCP server offers.'),
    output: z.string().optional().describe('The tool’s output as given to the model.'),
    artifacts: z.array(Artifact).optional().describe('Files that the called tool returned.'),
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

export const McpAnswer = z.record(z.string(), z.unknown()).meta({
  id: 'McpAnswer',
  description: 'A JSON-RPC 2.0 message.',
  // Without a field of its own, generators of clients take it for any object.
  properties: { jsonrpc: { type: 'string', description: 'Always `2.0`.' } },
})
