import type { Shortcut } from '../lib/shortcut.ts'

/** A message as the model sees it. */
export type ModelMessage =
  | { role: 'system'; content: string }
  | { role: 'user'; content: string; images?: readonly ModelImage[] }
  | { role: 'assistant'; content: string; toolCalls?: readonly ModelToolCall[] }
  | { role: 'tool'; callId: string; content: string }

/** An image, for models that accept images; the message's text has a mark in its place. */
interface ModelImage {
  /** A web address or a data URL. */
  url: string
  detail?: string
}

export interface ModelToolCall {
  callId: string
  name: string
  /** The arguments as the model wrote them: JSON text, possibly invalid. */
  arguments: string
  /** Data that the provider attached and expects back in the next turn, passed through unchanged. */
  extra?: ModelCallExtra | undefined
}

/** Provider-specific, opaque fields, under their names in the protocol. */
export interface ModelCallExtra {
  /** Belongs to the call, e.g. the signature of a thought. */
  extra_content?: unknown
  /** Belongs to the message that contained the call; set only on the first call of a message. */
  reasoning_content?: string | undefined
  reasoning_details?: unknown[] | undefined
}

export interface ModelTool {
  name: string
  description: string
  /** JSON Schema of the arguments. */
  parameters: Record<string, unknown>
}

/** A retrieved chunk; answers cite it by its position in the list, counted from 1. */
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
  /** OpenAI's `tool_choice`, passed through unchanged. */
  toolChoice?: unknown
  sampling: Sampling
  /** The chunks whose text the messages contain; for models that quote instead of generating. */
  chunks: readonly ModelChunk[]
  /** A faster way to pass on text after the first batch; a model may ignore it. */
  shortcut?: Shortcut<string> | undefined
}

export interface ModelUsage {
  promptTokens: number
  completionTokens: number
}

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter'

/** An event of a model's answer. */
export type ModelEvent =
  | { type: 'text-delta'; text: string }
  | { type: 'tool-call'; call: ModelToolCall }
  | { type: 'finish'; reason: FinishReason; usage: ModelUsage | undefined }

export interface ChatModel {
  /** The name shown by `/agent` and `/v1/models`. */
  readonly name: string
  /** False for a model that only quotes chunks and follows no other instructions. */
  readonly generates: boolean
  /** False for models that never call a tool. */
  readonly supportsTools: boolean
  /**
   * Streams the events of one answer, in batches that correspond to reads from the network; a batch may be empty. A
   * stream that does not throw ends with exactly one `finish`. Throws AppError `upstream_*`, or the signal's reason if
   * it is aborted.
   */
  stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<readonly ModelEvent[]>
}
