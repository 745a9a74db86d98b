import { randomUUID } from 'node:crypto'
import { streamInSpan } from '../../lib/tracing.ts'
import type { ChatModel, ModelRequest } from '../../models/chat-model.ts'
import { sizeOfMessages } from '../../models/token-estimate.ts'
import type { RunFinishReason } from '../../schemas/chat.ts'
import { LIMIT_NAMES, type LimitName } from '../../schemas/fields.ts'
import { withinAny } from '../../schemas/metadata.ts'
import type { ArtifactStore } from '../../stores/artifact-store.ts'
import type { Retrieval } from '../retrieval/search.ts'
import { createArtifacts } from '../tools/artifacts.ts'
import { parseCall, type ToolCall, type ToolRegistry } from '../tools/registry.ts'
import { type AgentEvent, type AgentRequest, asksForJson, type RunEnd } from './agent-event.ts'
import { createRunBudget, LIMIT_REASONS, type RunBudget, type RunLimits } from './budget.ts'
import { createCitations, type NumberedHit } from './citations.ts'
import { createKnownHosts, createLinkFilter, type LinkPolicy } from './link-filter.ts'
import {
  type Answer,
  choiceOf,
  clientCalls,
  countedAnswer,
  createSpacing,
  offer,
  outcomeOf,
  readAnswer,
  type Turn,
} from './model-turn.ts'
import type { PausedRun, Pauses } from './pause.ts'
import { assemblePrompt, fitChunks, fitResults, type PromptOptions } from './prompt.ts'
import { createRunGate, type RunGate, type RunGateOptions } from './run-gate.ts'
import { toQuery } from './standalone-question.ts'
import { callEvents, runCalls } from './tool-calls.ts'

interface Dependencies extends RunGateOptions {
  model: ChatModel
  retrieval: Pick<Retrieval, 'search'>
  tools: Pick<ToolRegistry, 'open'>
  artifacts: Pick<ArtifactStore, 'add' | 'maximumBytes'>
  prompt: PromptOptions
  limits: RunLimits
  /** Called after a run whose conversation no later request can continue. */
  endConversation: (conversation: string) => void
  pauses: Pauses
  links: LinkPolicy
  /** Hosts that the configuration names. */
  hosts: readonly string[]
  /** For the language of the documents. */
  isStopWord: (word: string) => boolean
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
  const paused = request.resume && parts.pauses.open(request.resume.state, request)
  await request.caller?.verify(true)
  const pass = gate.enter()
  const conversation = conversationOf(request) ?? paused?.conversation ?? randomUUID()
  let isPaused = false
  using budget = createRunBudget(parts.limits, signal, paused?.spent)
  try {
    const context = await begin(parts, request, { conversation, budget, paused }, signal)
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
  const { citations, spacing, links, messages, budget, pass } = context
  let calls = context.waited
  // After a pause this is not the first round: the caller's `toolChoice` was already met.
  for (let round = calls.length > 0 ? 2 : 1; ; round += 1) {
    if (calls.length > 0) {
      pass.called(calls)
      yield callEvents(calls)
      const results = await runCalls(calls, context, signal)
      yield [...context.searches.splice(0), ...results.events]
      spacing.part()
      messages.push(...results.messages)
    }
    // The key may be revoked or expire during the run.
    await request.caller?.verify()
    const turn = { round, last: budget.beginRound() }
    const asked = toModelRequest(parts, request, context, turn)
    const answer = yield* countedAnswer(budget, sizeOfMessages(asked.messages), (count) =>
      readAnswer(
        (shortcut) => parts.model.stream({ ...asked, shortcut }, budget.answerTime.signal),
        {
          citations: citations.check(asksForJson(request)),
          ...{ spacing, links, answerTime: budget.answerTime, signal, shortcut: request.shortcut },
          onText(text) {
            pass.text()
            count(text)
          },
        },
      ),
    )
    messages.push({ role: 'assistant', content: answer.text, toolCalls: answer.calls })
    calls = answer.calls.map(parseCall)
    const { events, end } = endingOf(parts, request, context, { answer, calls, last: turn.last })
    if (!end) continue
    pass.end(end.reason)
    yield [...events, end]
    return end.reason
  }
}

type RunContext = Awaited<ReturnType<typeof begin>>

interface RunStart {
  conversation: string
  budget: RunBudget
  /** The paused run to continue; absent for a new one. */
  paused: PausedRun | undefined
}

/** Finds chunks for the question and assembles the prompt. Returns the state of the run. */
async function begin(
  parts: Dependencies,
  request: AgentRequest,
  { conversation, budget, paused }: RunStart,
  signal: AbortSignal,
) {
  const { prompt, filter, mode, caller } = { ...parts, ...request }
  const owner = caller?.key?.id
  const citations = createCitations(paused)
  const found = paused
    ? { ...paused, query: '', hits: paused.hits.slice(0, paused.chunks) }
    : await findChunks(parts, request, budget, signal)
  const chunks = fitChunks(citations.add(found.hits), prompt.contextTokens)
  const artifacts = createArtifacts(parts.artifacts, paused?.artifacts, owner)
  const activeSkills = new Set(paused?.activeSkills)
  const searches: AgentEvent[] = []
  const searched = (query: string, numbered: readonly NumberedHit[]) =>
    void searches.push({ type: 'retrieved', query, hits: numbered.map(({ hit }) => hit) })
  if (!paused && request.topK > 0) searched(found.query, chunks)
  const tools = parts.tools.open({
    ...{ citations, artifacts, activeSkills, filter, mode, owner },
    conversation,
    ...{ searched, spend: budget.spend },
  })
  const assembled = assemblePrompt(request.conversation, chunks, { ...prompt, key: citations.key })
  const added = paused?.added ?? []
  const last = added.at(-1)
  const waited = last?.role === 'assistant' ? (last.toolCalls ?? []).map(parseCall) : []
  // Calls rather than ids: a model may reuse an id for a call that nobody has approved.
  const approved = waited.filter(({ callId }) => request.resume?.approved.includes(callId))
  return {
    ...{ conversation, citations, artifacts, activeSkills, chunks, budget, tools },
    spacing: createSpacing(),
    /** Searches that were not reported yet. */
    searches,
    links: createLinkFilter(parts.links, createKnownHosts(parts.hosts, citations)),
    degraded: found.degraded,
    searchedFor: found.searchedFor,
    /** The messages for the model, to which its answers and tool results are added. */
    messages: [...assembled, ...added],
    /** How many of the messages belong to the prompt. */
    assembled: assembled.length,
    /** Calls that waited for the client's approval before the pause. */
    waited,
    isRefused: (call: ToolCall) => tools.needsApproval(call.name) && !approved.includes(call),
  }
}

async function findChunks(
  { retrieval, ...parts }: Dependencies,
  request: AgentRequest,
  { spend }: RunBudget,
  signal: AbortSignal,
) {
  const { topK, filter, mode } = request
  const query = await toQuery(request, { ...parts, spend }, signal)
  const { hits, degraded } = await retrieval.search({ ...query, topK, filter, mode }, signal)
  const searchedFor = query.isRewritten ? query.query : undefined
  return { query: query.query, hits, degraded: degraded || query.degraded === true, searchedFor }
}

/** The events after an answer of the model, and the end of the run unless it continues. */
function endingOf(
  { pauses }: Dependencies,
  request: AgentRequest,
  context: RunContext,
  { answer, calls, last }: { answer: Answer; calls: ToolCall[]; last: LimitName | undefined },
): { events: AgentEvent[]; end?: RunEnd } {
  const reason = outcomeOf(answer, request, last)
  if (reason !== 'continue') {
    const own = clientCalls(answer, request)
    const events: AgentEvent[] = own.length > 0 ? [{ type: 'client-tool-calls', calls: own }] : []
    return { events, end: toRunEnd(context, reason) }
  }
  const waiting = calls.filter(context.isRefused)
  if (waiting.length === 0) return { events: [] }
  const named = waiting.map(({ callId, name: tool, input }) => ({ callId, tool, input }))
  const approval = { calls: named, state: pauses.seal(toPaused(context), request) }
  const end = { ...toRunEnd(context, 'approval_required'), approval }
  return { events: [{ type: 'approval-required', ...approval }], end }
}

function toPaused(context: RunContext): PausedRun {
  const { conversation, citations, chunks, messages, assembled, artifacts, budget } = context
  const { activeSkills, degraded, searchedFor } = context
  return {
    ...{ conversation, degraded, searchedFor, key: citations.key, hits: citations.all() },
    chunks: chunks.length,
    added: messages.slice(assembled),
    artifacts: artifacts.all(),
    activeSkills: [...activeSkills],
    spent: budget.spent(),
  }
}

function toModelRequest(
  { model, prompt }: Dependencies,
  request: AgentRequest,
  { messages, tools, chunks }: RunContext,
  turn: Turn,
): ModelRequest {
  const offered = model.supportsTools ? offer(request, tools) : []
  return {
    messages: fitResults(messages, prompt.contextTokens),
    tools: offered,
    toolChoice: offered.length > 0 ? choiceOf(request, turn) : undefined,
    sampling: request.sampling,
    chunks: chunks.map(({ hit }) => hit),
  }
}

function toRunEnd(
  { citations, artifacts, degraded, searchedFor, budget }: RunContext,
  reason: RunFinishReason,
): RunEnd {
  for (const limit of LIMIT_NAMES) if (LIMIT_REASONS[limit] === reason) budget.note(limit)
  return {
    type: 'run-end',
    ...{ reason, degraded, searchedFor },
    usage: budget.usage(),
    hits: citations.all(),
    artifacts: artifacts.all(),
    limitsReached: budget.reached(),
    unknownCitations: citations.unknown(),
  }
}
