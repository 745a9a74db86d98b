import type { Shortcut } from '../lib/shortcut.ts'

/** A message as the model sees it. */
export type ModelMessage =
  | { role: 'system'; content: string }
  | { role: 'user'; content: string; images?: readonly ModelImage[] }
  | { role: 'assistant'; content: string; toolCalls?: readonly ModelToolCall[] }
  | { role: 'tool'; callId: string; content: string }

/** For models that see; in the text of the message a mark stands where it was. */
interface ModelImage {
  /** Of the web, or with the image in it. */
  url: string
  detail?: string
}

export interface ModelToolCall {
  callId: string
  name: string
  /** The arguments as the model wrote them: JSON text that may be broken. */
  arguments: string
  /** What the provider attached and wants back on the next turn, passed through untouched. */
  extra?: ModelCallExtra | undefined
}

/** In the words of the wire; each is the provider's own, and opaque. */
export interface ModelCallExtra {
  /** Of the call: such as the signature of a thought. */
  extra_content?: unknown
  /** Of the message that the call came in; at its first call only. */
  reasoning_content?: string | undefined
  reasoning_details?: unknown[] | undefined
}

export interface ModelTool {
  name: string
  description: string
  /** JSON Schema of the arguments. */
  parameters: Record<string, unknown>
}

/** A retrieved chunk; its place in the list, from 1, is the number that an answer cites. */
export interface ModelChunk {
  title: string
  text: string
}

export interface Sampling {
  temperature?: number | undefined
  topP?: number | undefined
  maxTokens?: number | undefined
  stop?: readonly string[] | undefined
  presencePenalty?: number | undefined
  frequencyPenalty?: number | undefined
  seed?: number | undefined
  responseFormat?: Record<string, unknown> | undefined
  reasoningEffort?: string | undefined
}

export interface ModelRequest {
  messages: readonly ModelMessage[]
  tools: readonly ModelTool[]
  /** `auto` unless the caller insists: the wire's own value, passed through. */
  toolChoice?: unknown
  sampling: Sampling
  /** What stands in the messages as text already; for models that quote instead of generating. */
  chunks: readonly ModelChunk[]
  /** For text after the first batch; a model may do without. */
  shortcut?: Shortcut<string> | undefined
}

export interface ModelUsage {
  promptTokens: number
  completionTokens: number
}

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter'

/** What a model says, in order. */
export type ModelEvent =
  | { type: 'text-delta'; text: string }
  | { type: 'tool-call'; call: ModelToolCall }
  | { type: 'finish'; reason: FinishReason; usage: ModelUsage | undefined }

export interface ChatModel {
  /** The name that `/agent` and `/v1/models` show. */
  readonly name: string
  /** False for a model that quotes chunks and follows no other instruction. */
  readonly generates: boolean
  /** False for models that never call a tool. */
  readonly supportsTools: boolean
  /**
   * The events of one answer, as many at a time as one read of the network gave: a batch may be empty. Every
   * stream that does not throw ends with exactly one `finish`. Throws AppError `upstream_*`; an aborted signal
   * ends the stream by throwing its reason.
   */
  stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<readonly ModelEvent[]>
}
