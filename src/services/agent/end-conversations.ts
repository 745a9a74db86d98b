import { randomUUID } from 'node:crypto'
import type { Agent } from './run-agent.ts'

/**
 * The same agent, telling `end` of each conversation that is over with its run: one that the client did not
 * name, so that no other request can come back to what a tool keeps for it.
 */
export function endConversations(agent: Agent, end: (conversation: string) => void): Agent {
  return {
    async *run(request, signal) {
      if (request.conversationId !== undefined) {
        yield* agent.run(request, signal)
        return
      }
      const conversationId = randomUUID()
      try {
        yield* agent.run({ ...request, conversationId }, signal)
      } finally {
        end(conversationId)
      }
    },
  }
}
