import { AppError } from '@agent-server/lib/errors.ts'
import { type EndCall, PromptTooLong } from '@agent-server/models'
import type { RunFinishReason } from '@agent-server/schemas/chat.ts'
import { LIMIT_NAMES } from '@agent-server/schemas/fields.ts'
import {
  type AgentEvent,
  type AgentRequest,
  asksForJson,
  type RunEnd,
  textDelta,
} from '@agent-server/wire'
import { abstains } from '../citations/abstention.ts'
import { type CitedStatement, checkStatements } from '../citations/cited-statements.ts'
import { judgeStatements } from '../citations/judge-statements.ts'
import { parseCall, type ToolCall, type ToolResult } from '../tools/registry.ts'
import { dropImages, makeRoom, showImages } from '../tools/shown-images.ts'
import { LIMIT_REASONS } from './budget.ts'
import {
  clientCalls,
  ModelTurn,
  outcomeOf,
  type Turn,
  toModelRequest,
  withoutText,
} from './model-turn.ts'
import type { PausedRun } from './pause.ts'
import type { FittedPrompt } from './prompt.ts'
import type { Dependencies, RunContext } from './run-context.ts'
import { callEvents, type RanCall, resultEvents, resultMessages, runCalls } from './tool-calls.ts'

/** Ends after which there is no whole answer yet. */
const PAUSES: readonly RunFinishReason[] = ['tool_calls', 'approval_required']

/** Maximum requests per model call, each with a shorter prompt than the one that was refused. */
const MAX_FITS = 4

/** A call of the model, with the prompt that it is sent. */
interface Attempt extends Turn {
  fitted: FittedPrompt
  fits: number
  /** The size of the last prompt that was refused. */
  refusedBytes: number
}

/** Whether the model's server took nothing of the prompt, rather than failed. */
const isRefused = ({ answer }: ModelTurn, error: unknown): boolean =>
  error instanceof AppError &&
  ['context_length_exceeded', 'upstream_refused'].includes(error.code) &&
  answer.text === '' &&
  answer.calls.length === 0

/** A run after the search: calls of the model and of tools alternate until the run ends. */
export class Rounds {
  readonly #parts: Dependencies
  readonly #request: AgentRequest
  readonly #context: RunContext
  readonly #signal: AbortSignal
  #calls: readonly ToolCall[]
  #round: number
  #attempt: Attempt | undefined
  #end: RunEnd | undefined
  #cited: readonly CitedStatement[] = []
  /** The end, while the model has yet to judge the citations. */
  #unjudged: RunEnd | undefined
  /** Which limit of the day was reached. */
  #limit = ''

  constructor(
    parts: Dependencies,
    request: AgentRequest,
    context: RunContext,
    signal: AbortSignal,
  ) {
    this.#parts = parts
    this.#request = request
    this.#context = context
    this.#signal = signal
    this.#calls = context.waited
    // After a pause this is not the first round: the caller's `toolChoice` was already met.
    this.#round = context.waited.length > 0 ? 1 : 0
  }

  /** How the run has ended, once it has. */
  get end(): RunEnd | undefined {
    return this.#end
  }

  /** Whether nothing is left but to judge the citations, if that is asked for. */
  get isOver(): boolean {
    return (this.#end ?? this.#unjudged) !== undefined
  }

  /** Whether tools have to run before the model is called. */
  get hasCalls(): boolean {
    return this.#calls.length > 0
  }

  beginCalls(): AgentEvent[] {
    this.#context.start.slot.called(this.#calls)
    return callEvents(this.#calls)
  }

  /** Runs the calls, and says how far they are; the run ends if one of them asks the user something. */
  async *runCalls(): AsyncGenerator<AgentEvent[]> {
    const { start, tools, citations, isRefused, answerText, searches, prompt } = this.#context
    const { budget, trace } = start
    const parts = { tools, budget, citations, isRefused, trace }
    const results = yield* runCalls(this.#calls, parts, this.#signal)
    this.#calls = []
    const events = [...searches.splice(0), ...resultEvents(results)]
    const waiting = results.filter(({ result }) => result.elicited).map(({ call }) => call)
    if (waiting.length > 0) {
      yield [...events, ...(await this.#pause(waiting, results))]
      return
    }
    answerText.part()
    prompt.added.push(...resultMessages(results))
    if (this.#parts.model.supportsImages) {
      const shown = results.map(({ call, result: { images = [] } }) => ({
        tool: call.name,
        images,
      }))
      showImages(prompt.added, shown)
    }
    yield events
  }

  /** Asks the model; the turn reads its answer. Undefined once whoever pays has nothing left, as `stopped` says. */
  async beginTurn() {
    const { model, termsOf } = this.#parts
    const { start, citations, answerText, links } = this.#context
    const { budget, slot, trace } = start
    this.#attempt ??= await this.#beginRound()
    const { fitted } = this.#attempt
    const modelRequest = toModelRequest(this.#request, fitted, this.#attempt)
    const endCall = await this.#beginCall(fitted)
    if (!endCall) return undefined
    trace?.asked(modelRequest)
    const turn = new ModelTurn({
      citations: citations.check(asksForJson(this.#request), model.generates ? termsOf : undefined),
      answerText,
      links,
      budget,
      sentBytes: fitted.bytes,
      endCall,
      signal: this.#signal,
      onText: slot.text,
    })
    return { turn, batches: model.stream(modelRequest, budget.answerTime.signal) }
  }

  /** Throws `rate_limited` if the run has done nothing yet. */
  async #beginCall({ bytes: sentBytes }: FittedPrompt): Promise<EndCall | undefined> {
    const { maxTokens } = this.#request.sampling
    const { meter } = this.#context.start.budget
    try {
      const call = { model: this.#parts.model.name, sentBytes, maxTokens }
      return await meter.begin(call, this.#signal)
    } catch (error) {
      const isLimit = error instanceof AppError && error.code === 'rate_limited'
      if (!isLimit || this.#round === 1) throw error
      this.#limit = error.message
      return undefined
    }
  }

  /** The end of a run that whoever pays cannot continue, which says why. */
  async stopped(): Promise<AgentEvent[]> {
    const text = this.#context.answerText.join(`${this.#limit}.`)
    this.#context.answerText.show(text)
    return [textDelta(text), this.#finish(await this.#toEnd('usage_limit'))]
  }

  /**
   * Fits the prompt again after a refusal: without the images of tools if there are any, whose number, size or kind may
   * be what was refused, and else with the limits that it reported. Throws the turn's error if that cannot help.
   */
  refit(turn: ModelTurn, error: unknown): void {
    const attempt = this.#attempt
    if (turn.isDone || !attempt) return
    const { prompt } = this.#context
    if (isRefused(turn, error) && dropImages(prompt.added)) {
      // They say nothing about the window.
      this.#attempt = { ...attempt, fitted: prompt.fit() }
      return
    }
    const { window } = this.#parts
    const { bytes } = attempt.fitted
    const isLast = attempt.fits === MAX_FITS || bytes >= attempt.refusedBytes
    if (!(error instanceof PromptTooLong) || isLast) throw error
    window.refused(bytes, error)
    const fitted = prompt.fit()
    this.#attempt = { ...attempt, fitted, fits: attempt.fits + 1, refusedBytes: bytes }
  }

  /** The step after an answer of the model; undefined if the model is called again. */
  async endTurn({ isDone, answer }: ModelTurn): Promise<AgentEvent[]> {
    const attempt = this.#attempt
    if (!isDone || !attempt) return []
    const { model, sentQuestions, window } = this.#parts
    const { prompt, start, answerText, isRefused } = this.#context
    const { fitted, last } = attempt
    this.#attempt = undefined
    start.trace?.answered(answer)
    const promptHits = fitted.chunks.map(({ hit }) => hit)
    if (model.generates) sentQuestions.keep(this.#request, fitted.question, promptHits)
    if (answer.usage) window.note(fitted.bytes, answer.usage.promptTokens)
    const { text: content, calls: toolCalls, reasoning } = answer
    prompt.added.push({ role: 'assistant', content, toolCalls, reasoning })
    const reason = outcomeOf(answer, this.#request, last)
    if (reason === 'continue') {
      this.#calls = toolCalls.map(parseCall)
      const waiting = this.#calls.filter(isRefused)
      return waiting.length === 0 ? [] : this.#pause(waiting)
    }
    const callsForClient = clientCalls(answer, this.#request)
    return [
      ...(callsForClient.length > 0
        ? [{ type: 'client-tool-calls' as const, calls: callsForClient, reasoning }]
        : []),
      ...(answerText.isEmpty ? withoutText(reason, answer) : []),
      this.#finish({ ...(await this.#toEnd(reason)), stopSequence: answer.stopSequence }),
    ]
  }

  async #beginRound(): Promise<Attempt> {
    const { start, prompt } = this.#context
    // The key may be revoked or expire during the run.
    await this.#request.caller?.verify()
    this.#round += 1
    const fitted = this.#round === 1 ? prompt.first : prompt.fit()
    return {
      round: this.#round,
      last: start.budget.beginRound(),
      fitted,
      fits: 1,
      refusedBytes: Number.POSITIVE_INFINITY,
    }
  }

  /** Keeps the run until the client has decided on its calls: the events that say so. */
  async #pause(
    waiting: readonly ToolCall[],
    results: readonly RanCall[] = [],
  ): Promise<AgentEvent[]> {
    const images = results.flatMap(({ result }) => result.images ?? [])
    const shown = makeRoom(this.#context.prompt.added, images)
    const storable = (result: ToolResult): ToolResult => {
      return { ...result, images: result.images?.filter((image) => shown.includes(image)) }
    }
    const paused = { ...this.#toPaused(), results: results.map(({ result }) => storable(result)) }
    const calls = waiting.map((call) => {
      const { callId, name: tool, input } = call
      const asking = results.find((ran) => ran.call === call)?.result.elicited
      return { callId, tool, input, ...(asking && { elicitations: asking.elicitations }) }
    })
    const approval = { calls, state: await this.#parts.pauses.keep(paused, this.#request) }
    const end = this.#finish({ ...(await this.#toEnd('approval_required')), approval })
    return [{ type: 'approval-required', ...approval }, end]
  }

  /** The event that says how the run has ended, or that the model has yet to judge the citations. */
  #finish(end: RunEnd): AgentEvent {
    const { citations, reason } = end
    const check = this.#request.citationCheck ?? this.#parts.citationCheck
    if (check === 'model' && citations.length > 0 && !PAUSES.includes(reason)) {
      this.#unjudged = end
      return { type: 'citations', citations }
    }
    return this.#close(end)
  }

  #close(end: RunEnd): RunEnd {
    this.#context.start.slot.end(end.reason)
    this.#unjudged = undefined
    this.#end = end
    return end
  }

  /** Lets the model judge the citations, if it has yet to do so; the run ends with its verdicts. */
  async judge(): Promise<AgentEvent[]> {
    const end = this.#unjudged
    if (!end) return []
    const { model, termsOf, window } = this.#parts
    const { budget } = this.#context.start
    const room = window.toBytes(window.promptTokens())
    const judging = { model, meter: budget.meter, hits: end.hits, termsOf, room }
    const { citations, check } = await judgeStatements(this.#cited, judging, this.#signal)
    const judged = { ...end, citations, citationCheck: check, usage: budget.usage() }
    return [{ type: 'citations', citations }, this.#close(judged)]
  }

  #toPaused(): PausedRun {
    const { start, citations, artifacts, activeSkills, found, prompt } = this.#context
    return {
      ...found,
      sessionId: start.sessionId,
      hits: citations.all(),
      chunks: prompt.first.chunks.length,
      added: prompt.added,
      artifacts: artifacts.all(),
      activeSkills: [...activeSkills],
      spent: start.budget.spent(),
    }
  }

  async #toEnd(reason: RunFinishReason): Promise<RunEnd> {
    const { start, citations, artifacts, found, answerText } = this.#context
    const { budget } = start
    const hits = citations.all()
    const isJsonAsked = asksForJson(this.#request)
    const { termsOf, model } = this.#parts
    // Without a model, all that is shown is the server's.
    const writerOf = model.generates ? citations.writerOf : () => 'server' as const
    const check = { termsOf, isJsonAsked, writerOf }
    this.#cited = await checkStatements(answerText.shown, hits, check, this.#signal)
    for (const limit of LIMIT_NAMES) if (LIMIT_REASONS[limit] === reason) budget.note(limit)
    return {
      ...found,
      type: 'run-end',
      reason,
      usage: budget.usage(),
      hits,
      artifacts: artifacts.all(),
      limitsReached: budget.reached(),
      unknownCitations: citations.unknown(),
      abstained: !isJsonAsked && abstains(answerText.shown, this.#cited),
      citations: this.#cited.map(({ citation }) => citation),
    }
  }
}
