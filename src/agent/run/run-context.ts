import type { ChatModel, ModelMessage, ModelTool } from '@agent-server/models'
import type { CitationCheck } from '@agent-server/schemas/citation.ts'
import { refusal } from '@agent-server/schemas/invalid-request.ts'
import { accountOwner, ownerIdOf, shareOf } from '@agent-server/schemas/operator/api-key.ts'
import { type Correction, checkEffort } from '@agent-server/schemas/query.ts'
import type { ArtifactStore } from '@agent-server/stores'
import type { AgentEvent, AgentRequest, Payment } from '@agent-server/wire'
import type { Retrieval } from '../../retrieval/search.ts'
import { correctText } from '../../retrieval/spelling.ts'
import type { TermsOf } from '../citations/attribution.ts'
import {
  type Citations,
  createCitations,
  type NumberedHit,
  withoutStages,
} from '../citations/citations.ts'
import { createArtifacts } from '../tools/artifacts.ts'
import type { Tool, ToolContext } from '../tools/define-tool.ts'
import { toModelTool } from '../tools/discover-tools.ts'
import type { RunTools, ToolCall, ToolRegistry } from '../tools/registry.ts'
import { readPendingCalls } from './answered-calls.ts'
import type { RunLimits } from './budget.ts'
import { findChunks, scopeOf } from './find-chunks.ts'
import { withoutMarks } from './history.ts'
import { createKnownHosts, createLinkFilter, type LinkPolicy } from './link-filter.ts'
import { AnswerText } from './model-turn.ts'
import type { OpenRun } from './open-run.ts'
import type { Pauses } from './pause.ts'
import { type FittedPrompt, fitPrompt, type PromptOptions, type PromptParts } from './prompt.ts'
import type { RunLimiter } from './run-limiter.ts'
import type { RunTraces } from './run-trace.ts'
import type { SentQuestions } from './sent-questions.ts'
import type { ModelWindow } from './window.ts'

export interface Dependencies {
  limiter: RunLimiter
  /** Its own name, under which its calls are counted. */
  name: string
  payment: Payment
  /** Keeps what the agent uses open until it is disposed of. */
  hold?: (() => Disposable) | undefined
  model: ChatModel
  retrieval: Pick<Retrieval, 'search'>
  tools: Pick<ToolRegistry, 'open' | 'prepare'>
  artifacts: Pick<ArtifactStore, 'add' | 'maximumBytes'>
  prompt: PromptOptions
  window: ModelWindow
  limits: RunLimits
  /** Called after a run whose session no later request can continue. */
  endSession: (sessionId: string) => void
  /** Records how the last answers came about; absent if nothing is recorded. */
  traces?: RunTraces | undefined
  pauses: Pauses
  sentQuestions: SentQuestions
  links: LinkPolicy
  /** What citations are checked by, unless a request says. */
  citationCheck: CitationCheck
  /** Hosts that the configuration names. */
  hosts: readonly string[]
  /** For the language of the documents. */
  isStopWord: (word: string) => boolean
  /** The search terms of a text, by which sentences are attributed to passages. */
  termsOf: TermsOf
}

export type RunContext = ReturnOf<ReturnType<typeof begin>>
type ReturnOf<Steps> = Steps extends AsyncGenerator<unknown, infer Result> ? Result : never

/** Finds chunks for the question, step by step, and assembles the prompt. Returns the state of the run. */
export async function* begin(
  parts: Dependencies,
  request: AgentRequest,
  start: OpenRun,
  signal: AbortSignal,
) {
  const { topK, isPlain } = request
  const { sessionId, budget, paused, trace } = start
  checkEffort(request.effort ?? 'low', parts.model)
  checkCitationCheck(request, parts.model)
  const owner = ownerIdOf(request.caller)
  const citations = createCitations(paused)
  const artifacts = createArtifacts(parts.artifacts, paused?.artifacts, owner)
  const activeSkills = new Set(paused?.activeSkills)
  const { searches, searched } = noteSearches(citations, trace)
  const search = scopeOf(request)
  const account = accountOwner(request.caller)
  if (parts.model.supportsTools && !isPlain) await parts.tools.prepare(account, signal)
  const tools = parts.tools.open({
    citations,
    artifacts,
    activeSkills,
    filter: request.filter,
    visibility: search.visibility,
    search,
    owner,
    account,
    share: request.caller && shareOf(request.caller),
    sessionId,
    searched,
    meter: budget.meter,
  })
  await parts.window.learn(signal)
  const state: PromptState = {
    citations,
    tools,
    recalled: await parts.sentQuestions.recall(request),
    messages: await withoutMarks(request.messages, signal),
    numbered: [],
    added: [...(paused?.added ?? [])],
  }
  const fit = (replacementMessage?: string) => fitRun(parts, request, state, replacementMessage)
  const passages = paused
    ? { ...paused, query: '', hits: paused.hits.slice(0, paused.chunks), corrections: [] }
    : yield* findChunks(parts, request, { meter: budget.meter, promptFor: fit }, signal)
  state.numbered = citations.add(passages.hits.map(withoutStages))
  // A model that only quotes chooses by the words of the question.
  if (!parts.model.generates) state.messages = withCorrections(state.messages, passages.corrections)
  const fitted = fit()
  if (!paused && topK > 0) searched(passages.query, fitted.chunks, passages.hits)
  const waited = readPendingCalls(paused, request.resume)
  // Calls rather than ids: a model may reuse an id for a call that was not approved.
  const approved = waited.filter(({ callId }) => request.resume?.approved.includes(callId))
  if (request.resume) await parts.pauses.take(request.resume.state)
  return {
    start,
    citations,
    artifacts,
    activeSkills,
    tools,
    /** Searches that were not reported yet. */
    searches,
    answerText: new AnswerText(),
    links: createLinkFilter(parts.links, createKnownHosts(parts.hosts, citations)),
    found: { degraded: passages.degraded, searchedFor: passages.searchedFor },
    /**
     * The first prompt, and how it is fitted again with the model's answers and the tool results of this run, which
     * follow the question.
     */
    prompt: { first: fitted, fit, added: state.added },
    /** The calls of the round that the pause interrupted. */
    waited,
    isRefused: (call: ToolCall) => tools.needsApproval(call.name) && !approved.includes(call),
  }
}

function withCorrections(
  messages: readonly ModelMessage[],
  corrections: readonly Correction[],
): readonly ModelMessage[] {
  if (corrections.length === 0) return messages
  return messages.map((each) =>
    each.role === 'user' ? { ...each, content: correctText(each.content, corrections) } : each,
  )
}

/** What a prompt is fitted from, besides the request. */
interface PromptState extends Pick<PromptParts, 'citations' | 'messages' | 'recalled'> {
  tools: Pick<RunTools, 'offered'>
  numbered: readonly NumberedHit[]
  /** The messages that the run adds. */
  added: ModelMessage[]
}

function fitRun(
  { model, prompt, window }: Dependencies,
  { instructions, attached, files, sampling, clientTools, topK, isPlain }: AgentRequest,
  { tools, numbered, ...state }: PromptState,
  replacementMessage: string | undefined,
): FittedPrompt {
  // Whether the model calls tools may be known only after the first request.
  const { supportsTools, generates: hasExample } = model
  const hasTools = supportsTools && !isPlain
  const fitted = fitPrompt(
    {
      ...prompt,
      ...state,
      instructions,
      attached,
      files,
      sampling,
      hasExample,
      chunks: topK > 0 ? numbered : undefined,
      replacementMessage,
      clientTools: supportsTools ? clientTools : [],
      offered: (tokens) => (hasTools ? tools.offered(tokens).map(toModelTool) : []),
    },
    window,
  )
  if (hasTools) window.warnAboutOmittedTools(leftOut(tools.offered(), fitted.tools))
  return fitted
}

function checkCitationCheck({ citationCheck }: AgentRequest, { generates }: ChatModel): void {
  if (citationCheck !== 'model' || generates) return
  throw refusal('citationCheck', 'must be words: CHAT_MODEL=extractive judges nothing')
}

/** Searches become events, and part of the record of the run. */
function noteSearches(citations: Citations, trace: OpenRun['trace']) {
  const searches: AgentEvent[] = []
  const searched: NonNullable<ToolContext['searched']> = (query, numbered, matches) => {
    if (matches) trace?.searched(query, matches)
    const hits = numbered.map(({ hit }) => hit)
    searches.push({ type: 'retrieved', query, hits, known: citations.all() })
  }
  return { searches, searched }
}

/** The names of the tools that the model was not offered, although they could be called. */
function leftOut(tools: readonly Tool[], offered: readonly ModelTool[]): string[] {
  const names = new Set(offered.map(({ name }) => name))
  return tools.map(({ name }) => name).filter((name) => !names.has(name))
}
