import { randomUUID } from 'node:crypto'
import type { Retrieval } from '../../knowledge/retrieval/search.ts'
import { streamInSpan } from '../../lib/tracing.ts'
import { type ChatModel, type ModelTool, PromptTooLong } from '../../models/chat-model.ts'
import type { RunFinishReason } from '../../schemas/chat.ts'
import { LIMIT_NAMES, type LimitName } from '../../schemas/fields.ts'
import { seenIn, withinAny } from '../../schemas/metadata.ts'
import type { ArtifactStore } from '../../stores/artifact-store.ts'
import type { TermsOf } from '../citations/attribution.ts'
import { createCitations, type NumberedHit, withoutStages } from '../citations/citations.ts'
import { checkStatements } from '../citations/cited-statements.ts'
import { createArtifacts } from '../tools/artifacts.ts'
import type { Tool, ToolContext } from '../tools/define-tool.ts'
import { toModelTool } from '../tools/discover-tools.ts'
import { parseCall, type ToolCall, type ToolRegistry } from '../tools/registry.ts'
import { type AgentEvent, type AgentRequest, asksForJson, type RunEnd } from './agent-event.ts'
import { createRunBudget, LIMIT_REASONS, type RunBudget, type RunLimits } from './budget.ts'
import { createKnownHosts, createLinkFilter, type LinkPolicy } from './link-filter.ts'
import {
  type Answer,
  clientCalls,
  countedAnswer,
  createAnswerText,
  outcomeOf,
  readAnswer,
  type Turn,
  toModelRequest,
  withoutText,
} from './model-turn.ts'
import type { PausedRun, Pauses } from './pause.ts'
import { type FittedPrompt, fitPrompt, type PromptOptions } from './prompt.ts'
import { createRunGate, type RunGate, type RunGateOptions } from './run-gate.ts'
import type { RunTrace, RunTraces } from './run-trace.ts'
import type { SentQuestions } from './sent-questions.ts'
import { toQuery } from './standalone-question.ts'
import { callEvents, runCalls } from './tool-calls.ts'
import type { ModelWindow } from './window.ts'

interface Dependencies extends RunGateOptions {
  model: ChatModel
  retrieval: Pick<Retrieval, 'search'>
  tools: Pick<ToolRegistry, 'open'>
  artifacts: Pick<ArtifactStore, 'add' | 'maximumBytes'>
  prompt: PromptOptions
  window: ModelWindow
  limits: RunLimits
  /** Called after a run whose conversation no later request can continue. */
  endConversation: (conversation: string) => void
  /** Keeps what led to the last answers; absent if nothing is kept. */
  traces?: RunTraces | undefined
  pauses: Pauses
  sentQuestions: SentQuestions
  links: LinkPolicy
  /** Hosts that the configuration names. */
  hosts: readonly string[]
  /** For the language of the documents. */
  isStopWord: (word: string) => boolean
  /** The search terms of a text, by which sentences are attributed to passages. */
  termsOf: TermsOf
}

export interface Agent {
  /**
   * Runs the agent: retrieval, then model and tools in turn until there is an answer. The events come in batches, which
   * may be empty; the last event is `run-end`. Throws AppError if retrieval or the model fails or there are too many
   * runs, and the abort reason of `signal`.
   */
  run(request: AgentRequest, signal: AbortSignal): AsyncGenerator<readonly AgentEvent[]>
}

export function createAgent(parts: Dependencies): Agent {
  const gate = createRunGate(parts)
  return {
    run(asked, signal) {
      const request = { ...asked, filter: withinAny(asked.caller?.collections, asked.filter) }
      const attributes = {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.conversation.id': request.conversationId,
      }
      return streamInSpan('invoke_agent', { attributes }, run(parts, gate, request, signal))
    },
  }
}

async function* run(
  parts: Dependencies,
  gate: RunGate,
  request: AgentRequest,
  signal: AbortSignal,
): AsyncGenerator<readonly AgentEvent[]> {
  const { resume } = request
  const paused = resume && (await parts.pauses.open(resume.state, request))
  await request.caller?.verify(true)
  const trace = parts.traces?.begin(request)
  const pass = gate.enter(trace)
  const conversation = conversationOf(request) ?? paused?.conversation ?? randomUUID()
  let isPaused = false
  using budget = createRunBudget(parts.limits, signal, paused?.spent)
  try {
    const context = await begin(parts, request, { conversation, budget, paused, trace }, signal)
    if (resume) await parts.pauses.take(resume.state)
    yield context.searches.splice(0)
    const reason = yield* runRounds(parts, request, { ...context, pass }, signal)
    isPaused = reason === 'approval_required'
  } catch (error) {
    pass.fail(error, signal)
    throw error
  } finally {
    request.caller?.spend(budget.spent().tokens - (paused?.spent.tokens ?? 0))
    pass.leave(budget.usage())
    // No later request can continue a conversation that the client did not name.
    if (request.conversationId === undefined && !isPaused) parts.endConversation(conversation)
  }
}

/** The id of the conversation, which includes that of the API key: equal names of two keys must not collide. */
function conversationOf({ conversationId, caller }: AgentRequest): string | undefined {
  const owner = caller?.key?.id
  return conversationId && owner ? `${owner}:${conversationId}` : conversationId
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
      yield [...context.searches.splice(0), ...results.events]
      context.answerText.part()
      added.push(...results.messages)
    }
    // The key may be revoked or expire during the run.
    await request.caller?.verify()
    const turn = { round, last: budget.beginRound() }
    const answer = yield* askModel(parts, request, { ...context, turn }, signal)
    added.push({ role: 'assistant', content: answer.text, toolCalls: answer.calls })
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

type RunContext = Awaited<ReturnType<typeof begin>>

interface RunStart {
  conversation: string
  budget: RunBudget
  /** The paused run to continue; absent for a new one. */
  paused: PausedRun | undefined
  trace: RunTrace | undefined
}

/** Finds chunks for the question and assembles the prompt. Returns the state of the run. */
async function begin(
  parts: Dependencies,
  request: AgentRequest,
  { conversation, budget, paused, trace }: RunStart,
  signal: AbortSignal,
) {
  const { prompt, window } = parts
  const { conversation: asked, clientTools, sampling, topK } = request
  const owner = request.caller?.key?.id
  const citations = createCitations(paused)
  const artifacts = createArtifacts(parts.artifacts, paused?.artifacts, owner)
  const activeSkills = new Set(paused?.activeSkills)
  const searches: AgentEvent[] = []
  const searched: ToolContext['searched'] = (query, numbered, found) => {
    if (found) trace?.searched(query, found)
    const hits = numbered.map(({ hit }) => hit)
    searches.push({ type: 'retrieved', query, hits, known: citations.all() })
  }
  const tools = parts.tools.open({
    citations,
    artifacts,
    activeSkills,
    filter: seenIn(request.storedConversation, request.filter),
    search: scopeOf(request),
    owner,
    conversation,
    searched,
    spend: budget.spend,
  })
  const added = [...(paused?.added ?? [])]
  let numbered: NumberedHit[] = []
  const fit = (instead?: string): FittedPrompt => {
    // Whether the model calls tools may be known only after the first request.
    const { supportsTools } = parts.model
    const fitted = fitPrompt(
      {
        ...prompt,
        conversation: asked,
        hasExample: parts.model.generates,
        chunks: topK > 0 ? numbered : undefined,
        instead,
        citations,
        added,
        clientTools: supportsTools ? clientTools : [],
        sampling,
        recalled,
        offered: (tokens) => (supportsTools ? tools.offered(tokens).map(toModelTool) : []),
      },
      window,
    )
    if (supportsTools) window.tell(leftOut(tools.offered(), fitted.tools))
    return fitted
  }
  await window.learn(signal)
  const recalled = await parts.sentQuestions.recall(request)
  const found = paused
    ? { ...paused, query: '', hits: paused.hits.slice(0, paused.chunks) }
    : await findChunks(parts, request, { spend: budget.spend, promptFor: fit }, signal)
  numbered = citations.add(found.hits.map(withoutStages))
  const fitted = fit()
  const { chunks } = fitted
  if (!paused && topK > 0) searched(found.query, chunks, found.hits)
  const last = added.at(-1)
  const waited = last?.role === 'assistant' ? (last.toolCalls ?? []).map(parseCall) : []
  // Calls rather than ids: a model may reuse an id for a call that nobody has approved.
  const approved = waited.filter(({ callId }) => request.resume?.approved.includes(callId))
  return {
    trace,
    conversation,
    citations,
    artifacts,
    activeSkills,
    chunks,
    budget,
    tools,
    answerText: createAnswerText(),
    /** Searches that were not reported yet. */
    searches,
    links: createLinkFilter(parts.links, createKnownHosts(parts.hosts, citations)),
    degraded: found.degraded,
    searchedFor: found.searchedFor,
    /** The model's answers and tool results of this run, which follow the question. */
    added,
    /** What the model is to be sent first. */
    fitted,
    /** What it is to be sent now. */
    fit,
    /** Calls that waited for the client's approval before the pause. */
    waited,
    isRefused: (call: ToolCall) => tools.needsApproval(call.name) && !approved.includes(call),
  }
}

/** The names of the tools that the model was not offered, although they could be called. */
function leftOut(tools: readonly Tool[], offered: readonly ModelTool[]): string[] {
  const names = new Set(offered.map(({ name }) => name))
  return tools.map(({ name }) => name).filter((name) => !names.has(name))
}

async function findChunks(
  { retrieval, ...parts }: Dependencies,
  request: AgentRequest,
  asking: Pick<Parameters<typeof toQuery>[1], 'spend' | 'promptFor'>,
  signal: AbortSignal,
) {
  const { topK } = request
  const query = await toQuery(request, { ...parts, ...asking }, signal)
  const search = { ...query, ...scopeOf(request), topK, explain: true }
  const { hits, degraded } = await retrieval.search(search, signal)
  const searchedFor = query.isRewritten ? query.query : undefined
  return { query: query.query, hits, degraded, searchedFor }
}

/** What every search of a run has in common. */
function scopeOf({ filter, storedConversation: conversation, mode, minScore }: AgentRequest) {
  return { filter, conversation, mode, minScore }
}

/** The events after an answer of the model, and the end of the run unless it continues. */
async function endingOf(
  { pauses, termsOf }: Dependencies,
  request: AgentRequest,
  context: RunContext,
  { answer, calls, last }: { answer: Answer; calls: ToolCall[]; last: LimitName | undefined },
): Promise<{ events: AgentEvent[]; end?: RunEnd }> {
  const reason = outcomeOf(answer, request, last)
  const toEnd = (as: RunFinishReason): RunEnd => ({
    ...toRunEnd(context, as),
    citations: checkStatements(context.answerText.shown(), context.citations.all(), {
      termsOf,
      isJsonAsked: asksForJson(request),
    }),
  })
  if (reason !== 'continue') {
    const own = clientCalls(answer, request)
    const events: AgentEvent[] = own.length > 0 ? [{ type: 'client-tool-calls', calls: own }] : []
    if (context.answerText.isEmpty()) events.push(...withoutText(reason, answer))
    return { events, end: toEnd(reason) }
  }
  const waiting = calls.filter(context.isRefused)
  if (waiting.length === 0) return { events: [] }
  const named = waiting.map(({ callId, name: tool, input }) => ({ callId, tool, input }))
  const approval = { calls: named, state: await pauses.keep(toPaused(context), request) }
  const end = { ...toEnd('approval_required'), approval }
  return { events: [{ type: 'approval-required', ...approval }], end }
}

function toPaused(context: RunContext): PausedRun {
  const { conversation, citations, chunks, added, artifacts, budget } = context
  const { activeSkills, degraded, searchedFor } = context
  return {
    conversation,
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
  { citations, artifacts, degraded, searchedFor, budget }: RunContext,
  reason: RunFinishReason,
): Omit<RunEnd, 'citations'> {
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
  }
}
