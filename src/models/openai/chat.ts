import { pause, untilAborted, withDeadline } from '@agent-server/lib/abort.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import type { Log } from '@agent-server/lib/log.ts'
import { streamInSpan } from '@agent-server/lib/tracing.ts'
import type { ChatCompletionCreateParamsStreaming } from 'openai/resources/chat/completions'
import {
  type ChatModel,
  type ModelEvent,
  type ModelRequest,
  type ModelTool,
  PromptTooLong,
} from '../chat-model.ts'
import { clientOf, spanAttributes } from './connection.ts'
import { createDialect, type Dialect, fallBack } from './dialect.ts'
import { CHAT_MODEL, explainFailure } from './explain-failure.ts'
import { createRetries, isLoading, toUpstreamFailure, UpstreamFailure } from './failures.ts'
import { readModel } from './list-models.ts'
import { insistsOnCall, toRequestBody } from './request-body.ts'
import { type ChatServer, type ModelCall, streamAnswer } from './stream-answer.ts'
import { isTooLong } from './too-long.ts'

interface OpenAiModelOptions extends ChatServer {
  model: string
  log?: Pick<Log, 'warn'> | undefined
}

/** How long to wait for a server that is loading the model, and for the next look at it. */
const LOADING_MS = 600_000
const LOOK_MS = 1_000
/** How long the server may take to tell of its model. */
const LEARN_MS = 10_000

/**
 * A model behind any chat completions server. Features that the server rejects are omitted from then on; if these are
 * tools, `supportsTools` becomes false. Throws an Error if `apiKey` is not a valid header value.
 */
export function createOpenAiModel(server: OpenAiModelOptions): ChatModel {
  assertHeaderValue(server.apiKey)
  const dialect = createDialect()
  const state: State = {
    server,
    dialect,
    window: undefined,
    speed: undefined,
    areToolsTried: false,
    isThinkingOpen: false,
  }
  let learning: Promise<boolean> | undefined

  return {
    name: server.model,
    generates: true,
    get supportsTools() {
      return state.dialect.tools
    },
    get supportsImages() {
      return state.dialect.images
    },
    get window() {
      return state.window
    },
    get speed() {
      return state.speed
    },
    async learnWindow(signal) {
      learning ??= learn(state)
      // A server that is not there yet may tell later; one that answers with something else never will.
      if (!(await untilAborted(learning, signal))) learning = undefined
      return state.window
    },
    stream: (request, signal) => inChatSpan(server, request, explained(state, request, signal)),
  }
}

/** What is known of a model and its server. */
interface State {
  server: OpenAiModelOptions
  dialect: Dialect
  window: number | undefined
  /** The mean of the last answers, of which each counts half as much as the next. */
  speed: number | undefined
  /** Whether it is known that tools reach the model, or that they do not. */
  areToolsTried: boolean
  /** Whether the last answer that told began as thinking without a mark. */
  isThinkingOpen: boolean
}

/** Takes over what the server tells of the model; returns false if it may tell more later. */
async function learn(state: State): Promise<boolean> {
  const { server, dialect } = state
  const work = (signal: AbortSignal) => readModel(server, server.model, signal)
  try {
    // Not within the time: the SDK is loaded with the first client.
    await clientOf(server)
    const told = await withDeadline(LEARN_MS, work, () => new UpstreamFailure({ kind: 'timeout' }))
    state.window = told.window ?? state.window
    if (told.tools === false) dialect.tools = false
    if (told.images === false) dialect.images = false
    if (told.isLlamaCpp) Object.assign(dialect, { progress: true, choiceBySchema: true })
    return !told.isProvisional
  } catch (error) {
    const { kind, status = 0 } = toUpstreamFailure(error).facts
    return kind === 'unreadable' || kind === 'web-page' || (kind === 'status' && status < 500)
  }
}

async function* explained(
  state: State,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<readonly ModelEvent[]> {
  const { model, apiKey } = state.server
  try {
    yield* answerInTheEnd(state, request, signal)
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof AppError) throw error
    const { facts } = toUpstreamFailure(error)
    const failure = explainFailure(error, { names: CHAT_MODEL, model, apiKey })
    if (!isTooLong(facts)) throw failure
    state.window = facts.window ?? state.window
    throw new PromptTooLong(failure.message, { ...facts, cause: failure.cause })
  }
}

/** Streams one answer, after retries; there are none once the caller has received a part of it. */
async function* answerInTheEnd(
  state: State,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<readonly ModelEvent[]> {
  const { server, dialect } = state
  const recover = createRecovery(state)
  const onLearned: ModelCall['onLearned'] = ({ speed, isThinkingOpen }) => {
    if (speed !== undefined) state.speed = ((state.speed ?? speed) + speed) / 2
    state.isThinkingOpen = isThinkingOpen ?? state.isThinkingOpen
  }
  for (let isBegun = false; ; ) {
    signal.throwIfAborted()
    refuseUnmetChoice(state, request)
    const body = toRequestBody(server.model, request, dialect)
    try {
      const call = { body, request, isThinkingOpen: state.isThinkingOpen, onLearned }
      for await (const batch of streamAnswer(server, call, signal)) {
        isBegun ||= batch.some(({ type }) => type !== 'progress')
        noteChoice(state, batch, request)
        noteTools(state, body, batch)
        yield batch
      }
      return
    } catch (error) {
      signal.throwIfAborted()
      if (isBegun) throw error
      yield await recover(toUpstreamFailure(error), body, signal)
    }
  }
}

/** Makes the function that prepares each next attempt; it throws the failure if there is no use in one. */
function createRecovery({ server: { log }, dialect }: State) {
  const waitForRetry = createRetries({ upstream: CHAT_MODEL.upstream, log })
  const giveUp = performance.now() + LOADING_MS

  return async (failure: UpstreamFailure, body: object, signal: AbortSignal) => {
    const events: ModelEvent[] = []
    if (isLoading(failure.facts) && performance.now() < giveUp) {
      await pause(failure.facts.retryAfterMs ?? LOOK_MS, signal)
      events.push({ type: 'progress', phase: 'loading' })
    } else if (!fallBack(dialect, failure, body, log)) {
      await waitForRetry(failure, signal)
    }
    return events
  }
}

function refuseUnmetChoice({ dialect, server }: State, request: ModelRequest): void {
  if (dialect.tools || !insistsOnCall(request)) return
  throw new AppError('upstream_refused', `The chat model "${server.model}" cannot call tools`)
}

/** A tool choice by name that had no effect is made in another way from then on. */
function noteChoice(
  { dialect }: State,
  batch: readonly ModelEvent[],
  { toolChoice, tools }: ModelRequest,
): void {
  const name = typeof toolChoice === 'object' && dialect.tools ? toolChoice.name : undefined
  if (batch.at(-1)?.type !== 'finish' || !tools.some((tool) => tool.name === name)) return
  const isCalled = batch.some((event) => event.type === 'tool-call' && event.call.name === name)
  if (!isCalled) dialect.namedChoice = false
}

/** Tools of fewer bytes do not show in the size of a prompt. */
const MIN_TOOLS = 1_500
/** What a token has at most, on average over a prompt, in bytes: more in sentences than in sentences and JSON. */
const MAX_TOKEN = 8
const MAX_TOKEN_WITH_TOOLS = 6
const TRY_MS = 60_000

/**
 * Some templates drop tools without a word. Where a prompt has too few tokens to contain them, a short question, once
 * with a tool and once without, tells for certain.
 */
function noteTools(
  state: State,
  { messages, tools }: ChatCompletionCreateParamsStreaming,
  batch: readonly ModelEvent[],
): void {
  const end = batch.at(-1)
  if (state.areToolsTried || end?.type !== 'finish' || !tools) return
  const tokens = end.usage?.promptTokens ?? 0
  const [said, offered] = [messages, tools].map((part) => JSON.stringify(part).length)
  const isTold = tokens > (said ?? 0) / MAX_TOKEN
  const isMissing = tokens < ((said ?? 0) + (offered ?? 0)) / MAX_TOKEN_WITH_TOOLS
  const isCalled = end.reason === 'tool_calls'
  if ((offered ?? 0) < MIN_TOOLS || !isTold || !(isMissing || isCalled)) return
  state.areToolsTried = true
  if (!isCalled) void tryTools(state)
}

const TRIED_TOOL = {
  name: 'look_up_weather',
  description: 'Looks up the weather of a city at this moment.',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
}

async function tryTools(state: State): Promise<void> {
  const { server, dialect } = state
  const signal = AbortSignal.timeout(TRY_MS)
  const sizeWith = async (tools: readonly ModelTool[]) => {
    const messages = [{ role: 'user' as const, content: 'Hi' }]
    const request = { messages, tools, sampling: { maxTokens: 1 }, chunks: [] }
    const body = toRequestBody(server.model, request, dialect)
    const batches = await Array.fromAsync(streamAnswer(server, { body, request }, signal))
    const end = batches.flat().at(-1)
    return end?.type === 'finish' ? end.usage?.promptTokens : undefined
  }
  try {
    const size = await sizeWith([])
    if (size === undefined || size !== (await sizeWith([TRIED_TOOL]))) return
    dialect.tools = false
    server.log?.warn(
      {},
      'The chat model’s template leaves tools out: none are offered to the model',
    )
  } catch {
    // It stays unknown; a failure shows with the next question.
  }
}

/** Wraps an answer in a span with the request's parameters and the token usage, but no content. */
function inChatSpan(
  { model, baseUrl }: OpenAiModelOptions,
  { sampling }: ModelRequest,
  answer: AsyncGenerator<readonly ModelEvent[]>,
) {
  const attributes = {
    ...spanAttributes('chat', { model, baseUrl }),
    'gen_ai.request.temperature': sampling.temperature,
    'gen_ai.request.top_p': sampling.topP,
    'gen_ai.request.max_tokens': sampling.maxTokens,
    'gen_ai.request.seed': sampling.seed,
  }
  return streamInSpan(`chat ${model}`, { attributes, isRemote: true }, answer, (batch, span) => {
    const end = batch.at(-1)
    if (end?.type !== 'finish') return
    span.setAttributes({
      'gen_ai.response.finish_reasons': [end.reason],
      'gen_ai.usage.input_tokens': end.usage?.promptTokens,
      'gen_ai.usage.output_tokens': end.usage?.completionTokens,
    })
  })
}

/** Throws an Error without the key in its message, unlike the error for an invalid header. */
function assertHeaderValue(apiKey: string): void {
  if (!/^[\x21-\x7e]+$/.test(apiKey)) throw new Error('The API key does not fit into a header')
}
