import { setTimeout as pause } from 'node:timers/promises'
import { AppError } from '../../errors.ts'
import type {
  ChatModel,
  ModelCallExtra,
  ModelEvent,
  ModelMessage,
  ModelRequest,
  ModelTool,
  ModelToolCall,
  Sampling,
} from '../chat-model.ts'
import { type ConnectionOptions, createOpenAiConnection, type ModelLog } from './connection.ts'
import { createDialect, type Dialect, learnDialect, MAX_LESSONS } from './dialect.ts'
import { explainFailure } from './explain-failure.ts'
import { createRedactor, toUpstreamFailure, type UpstreamFailure } from './failures.ts'
import { isJsonObject, type JsonObject } from './json.ts'
import { retryDelay } from './retry.ts'

export interface OpenAiModelOptions extends ConnectionOptions {
  model: string
  log?: ModelLog | undefined
}

interface Tries {
  /** True once the caller has seen a part of the answer: from then on nothing is tried again. */
  spoken: boolean
  lessons: number
  retries: number
}

/**
 * A model behind any chat-completions server. What the server turns out not to accept is left out from
 * then on; `supportsTools` turns false when that is tools. Throws where `apiKey` does not fit a header.
 */
export function createOpenAiModel({ model, log, ...connecting }: OpenAiModelOptions): ChatModel {
  assertHeaderValue(connecting.apiKey)
  const connection = createOpenAiConnection(connecting)
  const explaining = { model, redact: createRedactor(connecting.apiKey) }
  const dialect = createDialect()

  async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    const tries: Tries = { spoken: false, lessons: 0, retries: 0 }
    for (;;) {
      signal.throwIfAborted()
      refuseUnmetChoice(request)
      const body = toRequestBody(model, request, dialect)
      try {
        for await (const event of connection.call(body, signal)) {
          tries.spoken = true
          yield event
        }
        return
      } catch (error) {
        signal.throwIfAborted()
        const failure = toUpstreamFailure(error)
        const wait = waitBeforeNext(tries, failure, body)
        if (wait === undefined) throw explainFailure(failure, explaining)
        await waitOut(wait, signal)
      }
    }
  }

  /** Milliseconds until the next try, or nothing when the failure stands. */
  function waitBeforeNext(
    tries: Tries,
    failure: UpstreamFailure,
    body: JsonObject,
  ): number | undefined {
    if (tries.spoken) return undefined
    if (tries.lessons < MAX_LESSONS && learnDialect(dialect, failure, body, log)) {
      tries.lessons += 1
      return 0
    }
    const wait = retryDelay(failure, tries.retries)
    if (wait === undefined) return undefined
    tries.retries += 1
    const { kind, status } = failure.facts
    log?.warn({ kind, status, retry: tries.retries, wait }, 'The chat model is asked again')
    return wait
  }

  function refuseUnmetChoice({ tools, toolChoice }: ModelRequest): void {
    const insists = toolChoice !== undefined && toolChoice !== 'auto' && toolChoice !== 'none'
    if (dialect.tools || tools.length === 0 || !insists) return
    throw new AppError('upstream_refused', `The chat model "${model}" cannot call tools`)
  }

  return {
    name: model,
    get supportsTools() {
      return dialect.tools
    },
    stream,
  }
}

async function waitOut(milliseconds: number, signal: AbortSignal): Promise<void> {
  if (milliseconds === 0) return
  await pause(milliseconds, undefined, { signal }).catch(() => signal.throwIfAborted())
}

/** Without the key in the message, unlike the one that a header would fail with. */
function assertHeaderValue(apiKey: string): void {
  if (!/^[\x21-\x7e]+$/.test(apiKey)) throw new Error('The API key does not fit into a header')
}

const MAX_NAME = 64

/** Writes a request in the dialect that the server accepts; fields that are `undefined` stay unsent. */
export function toRequestBody(
  model: string,
  { messages, tools, toolChoice, sampling }: ModelRequest,
  dialect: Dialect,
): JsonObject {
  const offered = dialect.tools ? tools : []
  return {
    model,
    stream: true,
    ...(dialect.streamUsage && { stream_options: { include_usage: true } }),
    messages: messages.map((message) => toMessage(message, dialect)),
    ...(offered.length > 0 && { tools: offered.map(toTool), tool_choice: toolChoice }),
    ...toSampling(sampling, dialect),
  }
}

function toMessage(message: ModelMessage, dialect: Dialect): JsonObject {
  switch (message.role) {
    case 'system':
    case 'user':
      return { role: message.role, content: message.content }
    case 'tool':
      return { role: 'tool', tool_call_id: message.callId, content: message.content }
    case 'assistant':
      return toAssistantMessage(message.content, message.toolCalls ?? [], dialect)
    default:
      return message satisfies never
  }
}

function toAssistantMessage(
  content: string,
  calls: readonly ModelToolCall[],
  dialect: Dialect,
): JsonObject {
  if (calls.length === 0) return { role: 'assistant', content }
  return {
    role: 'assistant',
    // An empty text beside tool calls is refused by some servers, its absence by none.
    content: content || null,
    ...(dialect.reasoning && reasoningOf(calls)),
    tool_calls: calls.map(toToolCall),
  }
}

function hasReasoning(extra: ModelCallExtra | undefined): boolean {
  return extra?.reasoning_content !== undefined || extra?.reasoning_details !== undefined
}

function reasoningOf(calls: readonly ModelToolCall[]): JsonObject {
  const { reasoning_content, reasoning_details } =
    calls.map(({ extra }) => extra).find(hasReasoning) ?? {}
  return {
    ...(reasoning_content !== undefined && { reasoning_content }),
    ...(reasoning_details !== undefined && { reasoning_details }),
  }
}

function toToolCall({ callId, name, arguments: written, extra }: ModelToolCall): JsonObject {
  const extra_content = extra?.extra_content
  return {
    id: callId,
    type: 'function',
    // Servers that parse the arguments refuse broken ones; the tool's answer says what was wrong.
    function: { name: toolName(name), arguments: isJsonObject(written) ? written : '{}' },
    ...(extra_content !== undefined && { extra_content }),
  }
}

/** Models invent names with dots and tags in them, which servers then refuse in the next request. */
function toolName(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, MAX_NAME) || 'unnamed'
}

function toTool({ name, description, parameters }: ModelTool): JsonObject {
  return { type: 'function', function: { name, description, parameters } }
}

function toSampling(sampling: Sampling, { maxTokensField }: Dialect): JsonObject {
  return {
    temperature: sampling.temperature,
    top_p: sampling.topP,
    ...(sampling.maxTokens !== undefined && { [maxTokensField]: sampling.maxTokens }),
    stop: sampling.stop,
    presence_penalty: sampling.presencePenalty,
    frequency_penalty: sampling.frequencyPenalty,
    seed: sampling.seed,
    response_format: sampling.responseFormat,
    reasoning_effort: sampling.reasoningEffort,
  }
}
