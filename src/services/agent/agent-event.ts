import type { Shortcut } from '../../lib/shortcut.ts'
import type { ModelTool, ModelToolCall, Sampling } from '../../models/chat-model.ts'
import type { Artifact } from '../../schemas/artifact.ts'
import type { Approval, Resume, RunFinishReason, Usage } from '../../schemas/chat.ts'
import type { LimitName } from '../../schemas/fields.ts'
import type { Filter } from '../../schemas/metadata.ts'
import type { Caller } from '../../schemas/operator/api-key.ts'
import type { Hit, SearchMode } from '../../schemas/query.ts'
import type { Conversation } from './prompt.ts'

/** Everything an agent run can say, in the order in which it happens; the last one is `run-end`. */
export type AgentEvent =
  | { type: 'text-delta'; text: string }
  /** The documents were searched: for the question, or by the model's wish. The hits as they are numbered. */
  | { type: 'retrieved'; query: string; hits: Hit[] }
  | { type: 'tool-call'; callId: string; tool: string; input: unknown }
  | { type: 'tool-result'; callId: string; tool: string; output: string; isError: boolean }
  /** Calls of tools that the client brought; it runs them itself and asks again. */
  | { type: 'client-tool-calls'; calls: readonly ModelToolCall[] }
  /** Calls that wait for the client's approval; the run ends, and goes on with a request that has the answer. */
  | ({ type: 'approval-required' } & Approval)
  | RunEnd

export const textDelta = (text: string) => ({ type: 'text-delta' as const, text })

export interface RunEnd {
  type: 'run-end'
  reason: RunFinishReason
  hits: Hit[]
  /** Calls that wait for the client's approval. */
  approval?: Approval | undefined
  /** Files that the tools made. */
  artifacts: Artifact[]
  usage: Usage | undefined
  /** The limits that kept the run from something. */
  limitsReached: LimitName[]
  /** A model that retrieval asks did not answer: for a vector, an order, or a question that stands alone. */
  degraded: boolean
  /** The question that the model made and the chunks were found for, where it made one. */
  searchedFor?: string | undefined
  /** What the model cited though nothing has that number; it is marked in the text. */
  unknownCitations: number[]
}

export interface AgentRequest {
  /** Who asks: the run sees what it may see, and is its own. The master key where absent. */
  caller?: Caller | undefined
  conversation: Conversation
  /** As the client names it; nothing is kept for a run without one. */
  conversationId?: string | undefined
  /** Chunks for the question; 0 retrieves none. */
  topK: number
  /** Whether a question that cannot stand alone is searched for with what was said before. */
  rewrite: boolean
  /** Documents that the run may find chunks in; all where there is none. */
  filter?: Filter | undefined
  /** What its searches go by. */
  mode?: SearchMode | undefined
  sampling: Sampling
  /** Tools that the client runs itself. One that bears the name of a server's tool hides it for this run. */
  clientTools: readonly ModelTool[]
  toolChoice?: unknown
  /** For text after the first batch; not all takes it. */
  shortcut?: Shortcut<string> | undefined
  /** Which of the calls that waited the client approves. */
  resume?: Resume | undefined
}

export function isClientTool({ clientTools }: AgentRequest, name: string): boolean {
  return clientTools.some((tool) => tool.name === name)
}

export function asksForJson({ sampling }: AgentRequest): boolean {
  const type = sampling.responseFormat?.type
  return type === 'json_object' || type === 'json_schema'
}
