import type { ModelTool, Sampling } from '../../models/chat-model.ts'
import type { Filter } from '../../schemas/metadata.ts'
import type { Conversation } from './prompt.ts'

export interface AgentRequest {
  conversation: Conversation
  /** As the client names it; nothing is kept for a run without one. */
  conversationId?: string | undefined
  topK: number
  /** Documents that the run may find passages in; all where there is none. */
  filter?: Filter | undefined
  sampling: Sampling
  /** Tools that the client runs itself. One that bears the name of a server's tool hides it for this run. */
  clientTools: readonly ModelTool[]
  toolChoice?: unknown
}

export function questionOf({ conversation }: AgentRequest): string {
  return conversation.messages.findLast(({ role }) => role === 'user')?.content ?? ''
}

export function isClientTool({ clientTools }: AgentRequest, name: string): boolean {
  return clientTools.some((tool) => tool.name === name)
}

export function asksForJson({ sampling }: AgentRequest): boolean {
  const type = sampling.responseFormat?.type
  return type === 'json_object' || type === 'json_schema'
}
