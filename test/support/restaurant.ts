import {
  inputRequired,
  McpServer,
  type PrimitiveSchemaDefinition,
} from '@modelcontextprotocol/server'
import { z } from 'zod'
import { startModernServer } from './mcp-servers.ts'

const FIELDS: Record<string, PrimitiveSchemaDefinition> = {
  guests: { type: 'integer', minimum: 1, maximum: 12, title: 'Guests' },
  when: { type: 'string', format: 'date', title: 'Day' },
  seat: { type: 'string', enum: ['inside', 'outside'], title: 'Seat' },
  extras: { type: 'array', items: { type: 'string', enum: ['highchair', 'ramp'] }, maxItems: 1 },
  name: { type: 'string', minLength: 2, maxLength: 5 },
  quiet: { type: 'boolean', title: 'Quiet table' },
}

/** An MCP server whose tool `book` asks for details before it goes on; `menu` asks nothing. */
export async function startRestaurant() {
  /** What it was told, in its order. */
  const told: unknown[] = []
  let menus = 0
  const { url } = await startModernServer(() => {
    const server = new McpServer({ name: 'restaurant', version: '1.0.0' }, {})
    const schemas = { inputSchema: z.object({}), outputSchema: z.object({ booked: z.string() }) }
    server.registerTool('book', schemas, (_input, { mcpReq }) => {
      const answer = mcpReq.inputResponses?.details
      if (!answer) {
        const requestedSchema = {
          type: 'object' as const,
          properties: FIELDS,
          required: ['guests', 'when'],
        }
        const message = 'For how many, and when? Bearer tok-1234567890'
        const details = inputRequired.elicit({ message, requestedSchema })
        return inputRequired({ inputRequests: { details }, requestState: 'table 7' })
      }
      told.push({ answer, state: mcpReq.requestState() })
      const booked = JSON.stringify(answer)
      return { content: [{ type: 'text', text: booked }], structuredContent: { booked } }
    })
    server.registerTool('menu', { inputSchema: z.object({}) }, () => {
      menus += 1
      return { content: [{ type: 'text', text: 'Soup' }] }
    })
    return server
  })
  return {
    url,
    told,
    menus: () => menus,
    forget() {
      told.length = 0
      menus = 0
    },
  }
}
