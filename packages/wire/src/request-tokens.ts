import { BYTES_PER_TOKEN, estimateTokens, sizeOfMessages } from '@agent-server/models'
import type { AgentRequest } from './agent-event.ts'

/** Estimates the tokens of what a client sends; rules and passages of the server come on top. */
export function tokensOf({
  messages,
  files = [],
  instructions,
  clientTools,
}: AgentRequest): number {
  const tools = clientTools.length > 0 ? JSON.stringify(clientTools) : ''
  return (
    Math.ceil(sizeOfMessages(messages) / BYTES_PER_TOKEN) +
    estimateTokens(`${instructions.join('')}${tools}${files.map(({ text }) => text).join('')}`)
  )
}
