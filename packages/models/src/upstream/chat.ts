import { pause, untilAborted, withDeadline } from '@agent-server/lib/abort.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import type { Log } from '@agent-server/lib/log.ts'
import { openSpan, quote, type StreamSpan, showsContent } from '@agent-server/lib/tracing.ts'
import {
  type ChatApi,
  type ChatModel,
  type ModelEvent,
  type ModelRequest,
  PromptTooLong,
} from '../chat-model.ts'
import { insteadOf, nearestModels } from '../nearest-models.ts'
import { spanAnswerOf, spanMessages } from '../span-messages.ts'
import { type Abilities, createAbilities } from './abilities.ts'
import { isThinker } from './answer-text.ts'
import { type ChosenApi, firstApi, nextApi } from './choose-api.ts'
import { authFor, spanAttributes } from './connection.ts'
import { CHAT_MODEL, explainFailure, type UpstreamNames } from './explain-failure.ts'
import { createRetries, isLoading, toUpstreamFailure, UpstreamFailure } from './failures.ts'
import { fallBack, withoutOmitted } from './fall-back.ts'
import { listModels, readModel } from './list-models.ts'
import { type ChatServer, type Learned, ModelCall, type ModelCallOptions } from './model-call.ts'
import type { Protocol } from './protocol.ts'
import { RefusedTools } from './refused-tools.ts'
import { isTooLong } from './too-long.ts'
import { leavesToolsOut, toolsSeen } from './tools-trial.ts'

export interface UpstreamModelOptions extends Omit<ChatServer, 'auth'> {
  model: string
  /** The protocol to use with the server. */
  api: ChosenApi
  /** How much the model reasons, unless a request says otherwise. */
  effort?: string | undefined
  log?: Pick<Log, 'warn'> | undefined
}

/** How long to wait for a server that is loading the model, and for the next look at it. */
const LOADING_MS = 600_000
const LOOK_MS = 1_000
/** How often one request is changed after a refusal; each change leaves out or replaces something that was in it. */
const MAX_CHANGES = 20
/** How long the server may take to describe its model. */
const LEARN_MS = 10_000
const TRY_TOOLS_MS = 60_000

/** What was tried when it failed. */
interface Attempt extends Pick<ModelCallOptions, 'body'>, Pick<ModelRequest, 'tools'> {
  isBegun: boolean
}

/** A model behind a server, with what is learned of both, for as long as the process runs. */
class UpstreamModel implements ChatModel {
  readonly generates = true
  readonly #options: UpstreamModelOptions
  readonly #protocols: Readonly<Record<ChatApi, Protocol>>
  /** The protocols that the server has no endpoint for. */
  readonly #missingApis = new Set<ChatApi>()
  readonly #refused = new Set<string>()
  readonly #refusedTools = new RefusedTools()
  #protocol: Protocol
  #server: ChatServer
  #abilities: Abilities = createAbilities()
  #window: number | undefined
  /** The mean of the last answers, of which each counts half as much as the next. */
  #speed: number | undefined
  #reasoning: ChatModel['reasoning']
  /** Whether it is known that tools reach the model, or that they do not. */
  #areToolsTried = false
  /** Whether the last answer that told began as reasoning without a mark. */
  #isThinkingOpen: boolean | undefined
  #learning: Promise<boolean> | undefined

  constructor(options: UpstreamModelOptions, protocols: Readonly<Record<ChatApi, Protocol>>) {
    assertHeaderValue(options.apiKey)
    this.#options = options
    this.#protocols = protocols
    this.#protocol = protocols[firstApi(options.baseUrl, options.api)]
    this.#server = serverFor(options, this.#protocol)
  }

  get name() {
    return this.#options.model
  }
  get api() {
    return this.#protocol.api
  }
  get supportsTools() {
    return this.#abilities.tools
  }
  get supportsImages() {
    return this.#abilities.images
  }
  get refused() {
    return [...this.#refused]
  }
  get window() {
    return this.#window
  }
  get speed() {
    return this.#speed
  }
  get reasoning() {
    return this.#reasoning
  }

  async learnWindow(signal: AbortSignal) {
    this.#learning ??= this.#learn()
    // A server that is not there yet may tell later; one that answers with something else never will.
    if (!(await untilAborted(this.#learning, signal))) this.#learning = undefined
    return this.#window
  }

  stream(request: ModelRequest, signal: AbortSignal) {
    const span = this.#openSpan(request)
    return span.around(this.#answer(request, span, signal))
  }

  /** Streams one answer, after retries; there are none once the caller has received a part of it. */
  async *#answer(
    request: ModelRequest,
    span: StreamSpan,
    signal: AbortSignal,
  ): AsyncGenerator<readonly ModelEvent[]> {
    const recover = this.#createRecovery()
    let isBegun = false
    const quoted: ModelEvent[] | undefined = showsContent() ? [] : undefined
    try {
      for (;;) {
        signal.throwIfAborted()
        this.#refuseUnmetChoice(request)
        const options = this.#callOptions(request)
        using call = new ModelCall(this.#server, options, signal)
        try {
          for (let batch = await call.next(); batch; batch = await call.next()) {
            isBegun ||= batch.some(({ type }) => type !== 'progress')
            quoted?.push(...batch)
            if (call.learned) this.#learnFrom(call.learned, batch, request, span)
            yield batch
          }
          return
        } catch (error) {
          yield await recover(error, { isBegun, body: options.body, tools: request.tools }, signal)
        }
      }
    } catch (error) {
      const failure = await this.#explain(error, signal)
      span.fail(failure)
      throw failure
    } finally {
      if (quoted) span.setAttributes(quote('gen_ai.output.messages', () => spanAnswerOf(quoted)))
      span.end()
    }
  }

  #callOptions(request: ModelRequest): ModelCallOptions {
    const { model, effort } = this.#options
    const { sampling } = request
    const asSent = {
      ...request,
      tools: this.#refusedTools.offered(request.tools),
      sampling: { ...sampling, effort: sampling.effort ?? effort },
    }
    const body = this.#protocol.toBody(model, asSent, this.#abilities)
    return {
      protocol: this.#protocol,
      body: withoutOmitted(body, this.#abilities),
      request,
      isThinkingOpen: this.#isThinkingOpen ?? (isThinker(model) || undefined),
    }
  }

  /** Takes over what a whole answer tells, of which these are the last events. */
  #learnFrom(
    { speed, isThinkingOpen, reasoning }: Learned,
    ending: readonly ModelEvent[],
    request: ModelRequest,
    span: StreamSpan,
  ): void {
    if (speed !== undefined) this.#speed = ((this.#speed ?? speed) + speed) / 2
    this.#isThinkingOpen = isThinkingOpen ?? this.#isThinkingOpen
    this.#reasoning = reasoning
    this.#noteChoice(ending, request)
    this.#noteTools(ending, request)
    const end = ending.at(-1)
    if (end?.type !== 'finish') return
    span.setAttributes({
      'gen_ai.response.finish_reasons': [end.reason],
      'gen_ai.usage.input_tokens': end.usage?.promptTokens,
      'gen_ai.usage.output_tokens': end.usage?.completionTokens,
    })
  }

  #openSpan({ sampling, messages }: ModelRequest): StreamSpan {
    const attributes = {
      ...spanAttributes('chat', this.#options, this.api),
      'gen_ai.request.temperature': sampling.temperature,
      'gen_ai.request.top_p': sampling.topP,
      'gen_ai.request.max_tokens': sampling.maxTokens,
      'gen_ai.request.seed': sampling.seed,
      ...quote('gen_ai.input.messages', () => spanMessages(messages)),
    }
    return openSpan(`chat ${this.name}`, { attributes, isRemote: true })
  }

  /** Makes the function that prepares each next attempt; it throws the failure if there is no use in one. */
  #createRecovery() {
    const { log } = this.#options
    const waitForRetry = createRetries({ upstream: CHAT_MODEL.upstream, log })
    const giveUp = performance.now() + LOADING_MS
    let changes = 0
    const change = (failure: UpstreamFailure, { body, tools }: Attempt): boolean => {
      if (++changes > MAX_CHANGES) return false
      const refused =
        this.#changeApi(failure) ??
        this.#refusedTools.learn(failure.facts, tools, body) ??
        fallBack(this.#protocol, this.#abilities, failure, body)
      if (refused === undefined) return false
      this.#refused.add(refused)
      log?.warn({ status: failure.facts.status }, `The chat model's server refuses ${refused}`)
      return true
    }

    return async (error: unknown, attempt: Attempt, signal: AbortSignal) => {
      signal.throwIfAborted()
      if (attempt.isBegun) throw error
      const failure = toUpstreamFailure(error)
      const events: ModelEvent[] = []
      if (isLoading(failure.facts) && performance.now() < giveUp) {
        await pause(failure.facts.retryAfterMs ?? LOOK_MS, signal)
        events.push({ type: 'progress', phase: 'loading' })
      } else if (!change(failure, attempt)) {
        await waitForRetry(failure, signal)
      }
      return events
    }
  }

  /**
   * Asks in another protocol from now on, if the server's refusal says so and none is configured. Returns what was
   * refused, in words.
   */
  #changeApi(failure: UpstreamFailure): string | undefined {
    const { api: current } = this.#protocol
    const next = this.#options.api === 'auto' ? nextApi(current, failure) : undefined
    if (!next || this.#missingApis.has(next)) return undefined
    if (current !== 'chat-completions') this.#missingApis.add(current)
    const { tools, images, choiceBySchema, progress } = this.#abilities
    this.#abilities = { ...createAbilities(), tools, images, choiceBySchema, progress }
    this.#protocol = this.#protocols[next]
    this.#server = serverFor(this.#options, this.#protocol)
    return `${current}: it is asked in ${next} from now on`
  }

  /** Applies the server's description of the model; returns false if it may be more complete later. */
  async #learn(): Promise<boolean> {
    const work = (signal: AbortSignal) => readModel(this.#server, this.#options.model, signal)
    try {
      const properties = await withDeadline(
        LEARN_MS,
        work,
        () => new UpstreamFailure({ kind: 'timeout' }),
      )
      this.#window = properties.window ?? this.#window
      if (properties.tools === false) this.#abilities.tools = false
      if (properties.images === false) this.#abilities.images = false
      if (properties.isLlamaCpp)
        Object.assign(this.#abilities, { progress: true, choiceBySchema: true })
      Object.assign(this.#abilities, properties.abilities)
      return !properties.isProvisional
    } catch (error) {
      const { kind, status = 0 } = toUpstreamFailure(error).facts
      return kind === 'unreadable' || kind === 'web-page' || (kind === 'status' && status < 500)
    }
  }

  /** The error to show; for a model that was withdrawn, with the models that the key can use. */
  async #explain(error: unknown, signal: AbortSignal): Promise<unknown> {
    if (signal.aborted) return signal.reason
    if (error instanceof AppError) return error
    const { model, apiKey } = this.#options
    const { facts } = toUpstreamFailure(error)
    const names = { ...CHAT_MODEL, path: this.#protocol.path }
    const failure = explainFailure(error, { names, model, apiKey })
    if (failure.code === 'upstream_model_not_found') return this.#nameOthers(failure, names, signal)
    if (!isTooLong(facts)) return failure
    this.#window = facts.window ?? this.#window
    return new PromptTooLong(failure.message, { ...facts, cause: failure.cause })
  }

  async #nameOthers(failure: AppError, names: UpstreamNames, signal: AbortSignal) {
    const list = (stop: AbortSignal) => listModels(this.#server, names, stop)
    const others = insteadOf(await nearestModels(list, this.name, signal))
    return new AppError(failure.code, `${failure.message}${others}`, { cause: failure.cause })
  }

  #refuseUnmetChoice(request: ModelRequest): void {
    const { tools, toolChoice = 'auto' } = request
    const refused = this.#refusedTools.refusedChoice(request)
    if (refused !== undefined) {
      const message = `The chat model's server refuses the tool "${refused}"`
      throw new AppError('upstream_refused', message)
    }
    const insists = tools.length > 0 && toolChoice !== 'auto' && toolChoice !== 'none'
    if (this.#abilities.tools || !insists) return
    throw new AppError('upstream_refused', `The chat model "${this.name}" cannot call tools`)
  }

  /** A tool choice by name that had no effect is made in another way from then on. */
  #noteChoice(ending: readonly ModelEvent[], { toolChoice, tools }: ModelRequest): void {
    const name =
      typeof toolChoice === 'object' && this.#abilities.tools ? toolChoice.name : undefined
    if (!tools.some((tool) => tool.name === name)) return
    const isCalled = ending.some((event) => event.type === 'tool-call' && event.call.name === name)
    if (!isCalled) this.#abilities.namedChoice = false
  }

  #noteTools(batch: readonly ModelEvent[], request: ModelRequest): void {
    if (this.#areToolsTried || !this.#abilities.tools) return
    const trial = toolsSeen(request, batch)
    if (!trial) return
    this.#areToolsTried = true
    if (trial === 'missing') void this.#tryTools()
  }

  async #tryTools(): Promise<void> {
    const signal = AbortSignal.timeout(TRY_TOOLS_MS)
    try {
      const isWithout = await leavesToolsOut(async (request) => {
        using call = new ModelCall(this.#server, this.#callOptions(request), signal)
        let last: ModelEvent | undefined
        for (let batch = await call.next(); batch; batch = await call.next()) {
          last = batch.at(-1) ?? last
        }
        return last?.type === 'finish' ? last.usage?.promptTokens : undefined
      })
      if (!isWithout) return
      this.#abilities.tools = false
      this.#options.log?.warn(
        {},
        'The chat model’s template leaves tools out: none are offered to the model',
      )
    } catch {
      // It stays unknown; a failure shows with the next question.
    }
  }
}

/**
 * A model behind any server that speaks one of the protocols. Features that the server rejects are omitted from then
 * on; if these are tools, `supportsTools` becomes false. Throws an Error if `apiKey` is not a valid header value.
 */
export const createUpstreamModel = (
  options: UpstreamModelOptions,
  protocols: Readonly<Record<ChatApi, Protocol>>,
): ChatModel => new UpstreamModel(options, protocols)

function serverFor(
  { apiKey, baseUrl, idleTimeoutMs }: UpstreamModelOptions,
  { api }: Protocol,
): ChatServer {
  return { apiKey, baseUrl, idleTimeoutMs, auth: authFor(api) }
}

/** Throws an Error without the key in its message, unlike the error for an invalid header. */
function assertHeaderValue(apiKey: string): void {
  if (!/^[\x21-\x7e]+$/.test(apiKey)) throw new Error('The API key does not fit into a header')
}
