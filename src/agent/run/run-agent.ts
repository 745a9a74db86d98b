import { randomUUID } from 'node:crypto'
import { openSpan, type StreamSpan } from '@agent-server/lib/tracing.ts'
import { PromptTooLong } from '@agent-server/models'
import type { RunFinishReason } from '@agent-server/schemas/chat.ts'
import { LIMIT_NAMES, type LimitName } from '@agent-server/schemas/fields.ts'
import type { Caller } from '@agent-server/schemas/operator/api-key.ts'
import { checkEffort } from '@agent-server/schemas/query.ts'
import {
  type Agent,
  type AgentEvent,
  type AgentRequest,
  asksForJson,
  type RunEnd,
} from '@agent-server/wire'
import type { CallerSearch, Retrieval } from '../../knowledge/retrieval/search.ts'
import { checkStatements } from '../citations/cited-statements.ts'
import { parseCall, type ToolCall } from '../tools/registry.ts'
import { createRunBudget, LIMIT_REASONS } from './budget.ts'
import {
  type Answer,
  clientCalls,
  countedAnswer,
  outcomeOf,
  readAnswer,
  type Turn,
  toModelRequest,
  withoutText,
} from './model-turn.ts'
import type { PausedRun } from './pause.ts'
import { answerQuery, type Query, type QueryAnswer } from './query.ts'
import { begin, type Dependencies, type RunContext } from './run-context.ts'
import type { RunGate } from './run-gate.ts'
import { callEvents, type RanCall, resultEvents, resultMessages, runCalls } from './tool-calls.ts'

/** The agent, which also answers searches alone. */
export interface SearchingAgent extends Agent {
  /** Searches what the caller may see, with no answer. Throws AppError like `run`. */
  query(
    query: Query,
    from: { caller: Caller; retrieval: Retrieval<CallerSearch> },
    signal: AbortSignal,
  ): Promise<QueryAnswer>
}

export function createAgent(parts: Dependencies): SearchingAgent {
  return {
    query: (query, from, signal) => answerQuery({ ...parts, ...from }, query, signal),
    run(request, signal) {
      const attributes = {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.conversation.id': request.sessionId,
      }
      const span = openSpan('invoke_agent', { attributes })
      return span.around(run(parts, request, span, signal))
    },
  }
}

async function* run(
  parts: Dependencies,
  request: AgentRequest,
  span: StreamSpan,
  signal: AbortSignal,
): AsyncGenerator<readonly AgentEvent[]> {
  using _held = parts.hold?.()
  const { resume } = request
  const paused = resume && (await parts.pauses.open(resume.state, request))
  await request.caller?.verify(true)
  const trace = parts.traces?.begin(request)
  const pass = parts.gate.enter(trace)
  const sessionId = sessionOf(request) ?? paused?.sessionId ?? randomUUID()
  let isPaused = false
  using budget = createRunBudget(parts.limits, signal, paused?.spent)
  try {
    checkEffort(request.effort ?? 'low', parts.model)
    const context = yield* begin(parts, request, { sessionId, budget, paused, trace }, signal)
    if (resume) await parts.pauses.take(resume.state)
    yield context.searches.splice(0)
    const reason = yield* runRounds(parts, request, { ...context, pass }, signal)
    isPaused = reason === 'approval_required'
  } catch (error) {
    pass.fail(error, signal)
    span.fail(error)
    throw error
  } finally {
    span.end()
    request.caller?.spend(budget.spent().tokens - (paused?.spent.tokens ?? 0))
    pass.leave(budget.usage())
    // No later request can continue a session that the client did not name.
    if (request.sessionId === undefined && !isPaused) parts.endSession(sessionId)
  }
}

/** The id of the session, which includes that of the API key: equal names of two keys must not collide. */
function sessionOf({ sessionId, caller }: AgentRequest): string | undefined {
  const owner = caller?.key?.id
  return sessionId && owner ? `${owner}:${sessionId}` : sessionId
}

/** Calls the model and tools in turn; returns the reason for the end of the run. */
async function* runRounds(
  parts: Dependencies,
  request: AgentRequest,
  context: RunContext & { pass: ReturnType<RunGate['enter']> },
  signal: AbortSignal,
): AsyncGenerator<readonly AgentEvent[], RunFinishReason> {
  const { added, budget, pass } = context
  let calls = context.waited
  // After a pause this is not the first round: the caller's `toolChoice` was already met.
  for (let round = calls.length > 0 ? 2 : 1; ; round += 1) {
    if (calls.length > 0) {
      pass.called(calls)
      yield callEvents(calls)
      const results = await runCalls(calls, context, signal)
      yield [...context.searches.splice(0), ...resultEvents(results)]
      const asking = results.filter(({ result }) => result.elicited)
      if (asking.length > 0) {
        const waiting = asking.map(({ call }) => call)
        const { events, end } = await pause(parts, request, context, waiting, results)
        pass.end(end.reason)
        yield [...events, end]
        return end.reason
      }
      context.answerText.part()
      added.push(...resultMessages(results))
    }
    // The key may be revoked or expire during the run.
    await request.caller?.verify()
    const turn = { round, last: budget.beginRound() }
    const answer = yield* askModel(parts, request, { ...context, turn }, signal)
    const { text: content, calls: toolCalls, reasoning } = answer
    added.push({ role: 'assistant', content, toolCalls, reasoning })
    calls = answer.calls.map(parseCall)
    const { events, end } = await endingOf(parts, request, context, {
      answer,
      calls,
      last: turn.last,
    })
    if (!end) continue
    pass.end(end.reason)
    yield [...events, end]
    return end.reason
  }
}

/** Maximum requests per model call, each with a shorter prompt than the one that was refused. */
const MAX_FITS = 4

/** Calls the model once. If the prompt turns out to be too long, it is fitted again with what the refusal told. */
async function* askModel(
  { model, window, termsOf, sentQuestions }: Dependencies,
  request: AgentRequest,
  context: RunContext & { pass: ReturnType<RunGate['enter']>; turn: Turn },
  signal: AbortSignal,
): AsyncGenerator<readonly AgentEvent[], Answer> {
  const { citations, answerText, links, budget, pass, turn } = context
  let refused = Number.POSITIVE_INFINITY
  let fitted = turn.round === 1 ? context.fitted : context.fit()
  for (let fits = 1; ; fits += 1) {
    const asked = toModelRequest(request, fitted, turn)
    context.trace?.asked(asked)
    try {
      const answer = yield* countedAnswer(budget, fitted.bytes, (count) =>
        readAnswer(model.stream(asked, budget.answerTime.signal), {
          citations: citations.check(asksForJson(request), model.generates ? termsOf : undefined),
          answerText,
          links,
          budget,
          signal,
          onText(text) {
            pass.text()
            count(text)
          },
        }),
      )
      context.trace?.answered(answer)
      const sent = fitted.chunks.map(({ hit }) => hit)
      if (model.generates) sentQuestions.keep(request, fitted.question, sent)
      if (answer.usage) window.note(fitted.bytes, answer.usage.promptTokens)
      return answer
    } catch (error) {
      if (!(error instanceof PromptTooLong) || fits === MAX_FITS || fitted.bytes >= refused)
        throw error
      refused = fitted.bytes
      window.refused(refused, error)
      fitted = context.fit()
    }
  }
}

/** The events after an answer of the model, and the end of the run unless it continues. */
async function endingOf(
  parts: Dependencies,
  request: AgentRequest,
  context: RunContext,
  { answer, calls, last }: { answer: Answer; calls: ToolCall[]; last: LimitName | undefined },
): Promise<{ events: AgentEvent[]; end?: RunEnd }> {
  const reason = outcomeOf(answer, request, last)
  if (reason !== 'continue') {
    const own = clientCalls(answer, request)
    const events: AgentEvent[] =
      own.length > 0 ? [{ type: 'client-tool-calls', calls: own, reasoning: answer.reasoning }] : []
    if (context.answerText.isEmpty()) events.push(...withoutText(reason, answer))
    return { events, end: toRunEnd(parts, request, context, reason) }
  }
  const waiting = calls.filter(context.isRefused)
  return waiting.length === 0 ? { events: [] } : pause(parts, request, context, waiting)
}

/** Keeps the run until the client has decided on its calls: the events that say so. */
async function pause(
  parts: Dependencies,
  request: AgentRequest,
  context: RunContext,
  waiting: readonly ToolCall[],
  results: readonly RanCall[] = [],
): Promise<{ events: AgentEvent[]; end: RunEnd }> {
  const paused = { ...toPaused(context), results: results.map(({ result }) => result) }
  const calls = waiting.map((call) => {
    const { callId, name: tool, input } = call
    const asking = results.find((ran) => ran.call === call)?.result.elicited
    return { callId, tool, input, ...(asking && { elicitations: asking.elicitations }) }
  })
  const approval = { calls, state: await parts.pauses.keep(paused, request) }
  const end = { ...toRunEnd(parts, request, context, 'approval_required'), approval }
  return { events: [{ type: 'approval-required', ...approval }], end }
}

function toPaused(context: RunContext): PausedRun {
  const { sessionId, citations, chunks, added, artifacts, budget } = context
  const { activeSkills, degraded, searchedFor } = context
  return {
    sessionId,
    degraded,
    searchedFor,
    hits: citations.all(),
    chunks: chunks.length,
    added,
    artifacts: artifacts.all(),
    activeSkills: [...activeSkills],
    spent: budget.spent(),
  }
}

function toRunEnd(
  { termsOf }: Pick<Dependencies, 'termsOf'>,
  request: AgentRequest,
  { citations, artifacts, degraded, searchedFor, budget, answerText }: RunContext,
  reason: RunFinishReason,
): RunEnd {
  for (const limit of LIMIT_NAMES) if (LIMIT_REASONS[limit] === reason) budget.note(limit)
  return {
    type: 'run-end',
    reason,
    degraded,
    searchedFor,
    usage: budget.usage(),
    hits: citations.all(),
    artifacts: artifacts.all(),
    limitsReached: budget.reached(),
    unknownCitations: citations.unknown(),
    citations: checkStatements(answerText.shown(), citations.all(), {
      termsOf,
      isJsonAsked: asksForJson(request),
    }),
  }
}
