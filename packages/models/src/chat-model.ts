import { AppError } from '@agent-server/lib/errors.ts'

/** The protocols of chat models. */
export const CHAT_APIS = ['responses', 'chat-completions', 'messages'] as const
export type ChatApi = (typeof CHAT_APIS)[number]

/** A message as the model sees it. */
export type ModelMessage =
  | { role: 'system'; content: string }
  | { role: 'user'; content: string; images?: readonly ModelImage[] }
  | {
      role: 'assistant'
      content: string
      toolCalls?: readonly ModelToolCall[]
      /** The reasoning that led to the calls. */
      reasoning?: readonly ReasoningPart[] | undefined
    }
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
  /** What the provider attached to the call and expects back with it, unchanged, such as Gemini's thought signature. */
  attachment?: Record<string, unknown> | undefined
}

/**
 * A part of a model's reasoning in the form in which its provider expects it back with the results of tools. Each
 * protocol sends the forms that it knows, unchanged, and leaves out the others.
 */
export type ReasoningPart =
  /** `reasoning_content` of DeepSeek, Kimi and GLM. */
  | { form: 'content'; text: string }
  /** An entry of OpenRouter's `reasoning_details`. */
  | { form: 'detail'; detail: Record<string, unknown> }
  /** A reasoning item of OpenAI's Responses; `data` is encrypted. */
  | { form: 'item'; id: string; data: string; summary: readonly string[] }
  /** A thinking block of Anthropic's Messages; without text, a redacted one, whose `signature` is its data. */
  | { form: 'block'; text?: string | undefined; signature: string }

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
  /** The form of the answer; text if absent. */
  format?: AnswerFormat | undefined
  /** How much the model reasons, in its provider's words; if absent, what is configured, or else the model's own. */
  effort?: string | undefined
}

/** An answer that is JSON: any object, or what a JSON Schema describes. */
export type AnswerFormat =
  | { type: 'json' }
  | {
      type: 'json-schema'
      name: string
      schema: Record<string, unknown>
      description?: string | undefined
      strict?: boolean | undefined
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

/** What a server reports; of the counts that are optional, some report none. */
export interface ModelUsage {
  /** All of the prompt, whether read from a cache, written to it or neither. */
  promptTokens: number
  /** All that was generated, thinking included. */
  completionTokens: number
  /** Tokens of the prompt that the server read from its cache. */
  cachedTokens?: number | undefined
  /** Tokens of the prompt that the server wrote to its cache, where that has a price of its own. */
  cacheWriteTokens?: number | undefined
  /** Generated tokens of the model's thinking. */
  reasoningTokens?: number | undefined
}

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter'

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
      /** Which of the request's stop sequences ended the text, if the server says so. */
      stopSequence?: string | undefined
      usage: ModelUsage | undefined
      /** What goes back to the provider with the results of the calls. */
      reasoning?: readonly ReasoningPart[] | undefined
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
  /** The protocol that its server was last asked in; undefined for a model that needs no server. */
  readonly api?: ChatApi | undefined
  /** What its server has refused, and what is done instead, in words. */
  readonly refused?: readonly string[] | undefined
  /** How its reasoning was last seen: as text, as summaries, or none; undefined before the first answer. */
  readonly reasoning?: 'text' | 'summary' | 'none' | undefined
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
