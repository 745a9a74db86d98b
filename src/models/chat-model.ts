import { AppError } from '@agent-server/lib/errors.ts'

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
  /** What the model's provider attached and expects back in the next turn. */
  providerData?: ProviderData | undefined
}

/** Opaque: passed back unchanged to the provider that it came from. */
export interface ProviderData {
  /** Belongs to the call, e.g. the signature of a thought. */
  call?: Record<string, unknown> | undefined
  /** Belongs to the message that contained the call; set only on the first call of a message. */
  message?: Record<string, unknown> | undefined
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

/** Whether the model may call tools, must call one, or must call this one; if undefined, it decides. */
export type ToolChoice = 'auto' | 'none' | 'required' | { name: string }

export interface ModelRequest {
  messages: readonly ModelMessage[]
  tools: readonly ModelTool[]
  toolChoice?: ToolChoice | undefined
  sampling: Sampling
  /** The chunks whose text the messages contain; for models that quote instead of generating. */
  chunks: readonly ModelChunk[]
  /** What begins alike has the same one: for a provider that routes requests to where their beginning is cached. */
  cacheKey?: string | undefined
}

export interface ModelUsage {
  promptTokens: number
  completionTokens: number
  /** How many of the prompt's tokens the server took from its cache, if it says so. */
  cachedTokens?: number | undefined
}

/** Counts the tokens of a model call: those that are reported, or else an estimate from the bytes sent and received. */
export type Spend = (usage: ModelUsage | undefined, bytes?: number) => void

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter'

/** An event of a model's answer. */
export type ModelEvent =
  | { type: 'text-delta'; text: string }
  /** The model's thinking, which is no part of the answer. */
  | { type: 'reasoning-delta'; text: string }
  /** The server works before the answer begins: it loads the model or reads the prompt. Counts are in tokens. */
  | { type: 'progress'; phase: 'loading' | 'prefill'; processed?: number; total?: number }
  | { type: 'tool-call'; call: ModelToolCall }
  | {
      type: 'finish'
      reason: FinishReason
      usage: ModelUsage | undefined
      /** If there is neither text nor a call: why, as a sentence for the user. */
      emptyBecause?: string | undefined
    }

/** Thrown by `stream`, before any text, if the prompt exceeds the model's window; with what the server said of it. */
export class PromptTooLong extends AppError {
  readonly promptTokens: number | undefined
  readonly window: number | undefined

  constructor(
    message: string,
    { promptTokens, window, cause }: { promptTokens?: number; window?: number; cause?: unknown },
  ) {
    super('context_length_exceeded', message, { cause })
    this.promptTokens = promptTokens
    this.window = window
  }
}

export interface ChatModel {
  /** The name shown by `/agent` and `/v1/models`. */
  readonly name: string
  /** False for a model that only quotes chunks and follows no other instructions. */
  readonly generates: boolean
  /** False for models that never call a tool; for others it may become false when the server is asked. */
  readonly supportsTools: boolean
  /** False for models that take no images; for others it may become false when the server is asked. */
  readonly supportsImages: boolean
  /** The size of the model's window in tokens, as its server told or a refusal taught; undefined while unknown. */
  readonly window: number | undefined
  /**
   * Asks the server for the window and what else it tells of the model, again until it has told for good: some only do
   * once the model is loaded. Never throws but the abort reason.
   */
  learnWindow(signal: AbortSignal): Promise<number | undefined>
  /** Tokens written per second in the last answers; undefined before the first. */
  readonly speed: number | undefined
  /**
   * Streams the events of one answer, in batches that correspond to reads from the network; a batch may be empty. A
   * stream that does not throw ends with exactly one `finish`. Throws AppError `upstream_*`, `PromptTooLong`, or the
   * signal's reason if it is aborted.
   */
  stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<readonly ModelEvent[]>
}
