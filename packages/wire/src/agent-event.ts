import { narrowed, type Visibility } from '@agent-server/lib/visibility.ts'
import type {
  ModelEvent,
  ModelMessage,
  ModelTool,
  ModelToolCall,
  ReasoningPart,
  Sampling,
  ToolChoice,
} from '@agent-server/models'
import type { Approval, Resume } from '@agent-server/schemas/approval.ts'
import type { Artifact } from '@agent-server/schemas/artifact.ts'
import type { RunFinishReason } from '@agent-server/schemas/chat.ts'
import type {
  Citation,
  CitationCheck,
  CitationCheckOutcome,
} from '@agent-server/schemas/citation.ts'
import type { LimitName } from '@agent-server/schemas/fields.ts'
import type { Filter } from '@agent-server/schemas/metadata.ts'
import { type Caller, MASTER } from '@agent-server/schemas/operator/api-key.ts'
import type { Effort, Hit, SearchMode, SearchStep, Usage } from '@agent-server/schemas/query.ts'
import { forCaller } from '@agent-server/schemas/visibility.ts'

/** An event of a run, emitted in order of occurrence; the last one is `run-end`. */
export type AgentEvent =
  | { type: 'text-delta'; text: string }
  /** The model's thinking, or what its server does before the answer begins. */
  | Extract<ModelEvent, { type: 'reasoning-delta' | 'progress' }>
  /** A step of the search for the question. */
  | { type: 'search-step'; step: SearchStep }
  /** The documents were searched, for the question or by a tool call; `known` are all hits so far, as numbered for citations. */
  | { type: 'retrieved'; query: string; hits: Hit[]; known: Hit[] }
  | { type: 'tool-call'; callId: string; tool: string; input: unknown }
  /** How far a call is, as its server says. */
  | ({ type: 'tool-progress'; callId: string; tool: string } & ToolProgress)
  | { type: 'tool-result'; callId: string; tool: string; output: string; isError: boolean }
  /** Calls of the client's own tools; it runs them itself and sends another request. */
  | {
      type: 'client-tool-calls'
      calls: readonly ModelToolCall[]
      /** What the client sends back with the results, unchanged. */
      reasoning?: readonly ReasoningPart[] | undefined
    }
  /** Calls that wait for the client's approval. The run ends; a request with the client's decision continues it. */
  | ({ type: 'approval-required' } & Approval)
  /** The text has ended, and the model judges its citations; again with its verdicts. */
  | { type: 'citations'; citations: Citation[] }
  | RunEnd

/** How far a call of a tool is, in units of its server. */
export interface ToolProgress {
  progress: number
  total?: number | undefined
  message?: string | undefined
}

/** Whether an event comes before the model begins to answer. */
export const isSearch = ({ type }: AgentEvent) => type === 'retrieved' || type === 'search-step'

export const textDelta = (text: string) => ({ type: 'text-delta' as const, text })

export interface RunEnd {
  type: 'run-end'
  reason: RunFinishReason
  /** Which of the request's stop sequences ended the text, if the model's server says so. */
  stopSequence?: string | undefined
  hits: Hit[]
  /** Calls that wait for the client's approval. */
  approval?: Approval | undefined
  /** Files that tools created. */
  artifacts: Artifact[]
  usage: Usage | undefined
  /** The limits that restricted the run. */
  limitsReached: LimitName[]
  /** True if a model needed for retrieval failed: for the vector or the reranking. */
  degraded: boolean
  /** The standalone question for which chunks were searched, if the model wrote one. */
  searchedFor?: string | undefined
  /** Whether the text says that the documents do not say what was asked, and cites them for nothing else. */
  abstained?: boolean
  /** The citations in the text of the run, in order. */
  citations: Citation[]
  /** The model's judgement of them, if it was requested. */
  citationCheck?: CitationCheckOutcome
  /** Numbers that the model cited but no hit has; they are marked in the text. */
  unknownCitations: number[]
}

/** What answers questions, over documents and with tools. */
export interface Agent {
  /**
   * Runs the agent: retrieval, then model and tools in turn until there is an answer. The events come in batches, which
   * may be empty; the last event is `run-end`. Throws AppError if retrieval or the model fails or there are too many
   * runs, and the abort reason of `signal`.
   */
  run(request: AgentRequest, signal: AbortSignal): AsyncGenerator<readonly AgentEvent[]>
}

export interface AgentRequest {
  /** Who asks, which determines what the run may see and who owns its data. If absent, the master key. */
  caller?: Caller | undefined
  /** The conversation except system messages, oldest first; the last user message is the question. */
  messages: readonly ModelMessage[]
  /** The client's system messages, in order. */
  instructions: readonly string[]
  /** The client's name for the state that tools keep for its next request; without one, nothing is kept. */
  sessionId?: string | undefined
  /** The stored conversation whose documents the run sees as well; the caller's own. */
  conversationId?: string | undefined
  /** Documents that the question comes with, which the run sees. */
  attached?: readonly AttachedDocument[] | undefined
  /** The text of files that the messages bring, which are not kept. */
  files?: readonly AttachedText[] | undefined
  /** The item that the stored conversation holds the answer in, by which the run is found later. */
  answerId?: string | undefined
  /** One of the further agents of the configuration, by its name; absent for the first. */
  agent?: string | undefined
  /** Whether the model answers alone, without the server's tools and documents, as for tasks of front ends. */
  isPlain?: boolean | undefined
  /** Number of chunks to retrieve for the question; 0 retrieves none. */
  topK: number
  /** Score below which the run's searches leave chunks out. */
  minScore?: number | undefined
  /** Whether a question that cannot stand alone is searched for with its context. */
  rewrite: boolean
  /** Restricts the documents that the run may search; all if absent. */
  filter?: Filter | undefined
  /** Mode of the run's searches. */
  mode?: SearchMode | undefined
  /** How often to search for the question; `low` if absent. */
  effort?: Effort | undefined
  /** What citations are checked by; if absent, what is configured. */
  citationCheck?: CitationCheck | undefined
  sampling: Sampling
  /** Tools that the client runs itself. One with the name of a server's tool hides that tool for this run. */
  clientTools: readonly ModelTool[]
  toolChoice?: ToolChoice | undefined
  /** Types of the requested tools that the server does not have. */
  foreignTools?: readonly string[] | undefined
  /** Continues a paused run, with the calls that the client approves. */
  resume?: Resume | undefined
}

/** A document that was added to a conversation; whoever added it chose the title. */
export interface AttachedDocument {
  id: string
  title: string
  status: 'pending' | 'processing' | 'ready' | 'failed'
}

/** The text of a file; whoever sent it chose the name. */
export interface AttachedText {
  name: string
  text: string
}

/** What a run may see. */
export function visibilityOf(
  request: Pick<AgentRequest, 'caller' | 'conversationId' | 'filter'>,
): Visibility {
  const { caller = MASTER, conversationId, filter } = request
  return narrowed(forCaller(caller, conversationId), filter)
}

export function isClientTool({ clientTools }: AgentRequest, name: string): boolean {
  return clientTools.some((tool) => tool.name === name)
}

export function asksForJson({ sampling }: AgentRequest): boolean {
  return sampling.format !== undefined
}
