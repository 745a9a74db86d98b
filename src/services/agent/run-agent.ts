import { randomUUID } from 'node:crypto'
import type { ChatModel, ModelMessage, ModelUsage } from '../../models/chat-model.ts'
import { sizeOfMessages } from '../../models/token-estimate.ts'
import type { RunFinishReason } from '../../schemas/chat.ts'
import { LIMIT_NAMES } from '../../schemas/fields.ts'
import type { ArtifactStore } from '../../stores/artifact-store.ts'
import type { Retrieval } from '../retrieval/search.ts'
import { type Artifacts, createArtifacts } from '../tools/artifacts.ts'
import { parseCall, type RunTools, type ToolRegistry } from '../tools/registry.ts'
import { type AgentEvent, type AgentRequest, asksForJson, questionOf } from './agent-event.ts'
import {
  createRunBudget,
  createUsageSum,
  LIMIT_REASONS,
  type RunBudget,
  type RunLimits,
} from './budget.ts'
import { type Citations, createCitations, type NumberedHit } from './citations.ts'
import {
  type Answer,
  type AnswerReader,
  choiceOf,
  clientCalls,
  createSpacing,
  offer,
  outcomeOf,
  readAnswer,
  type Spacing,
  type Turn,
} from './model-turn.ts'
import { assemblePrompt, fitChunks, fitResults, type PromptOptions } from './prompt.ts'
import { createRunGate, type RunGate, type RunGateOptions } from './run-gate.ts'
import { callEvents, runCalls } from './tool-calls.ts'

interface Dependencies extends RunGateOptions {
  model: ChatModel
  retrieval: Pick<Retrieval, 'search'>
  tools: Pick<ToolRegistry, 'open'>
  artifacts: Pick<ArtifactStore, 'add' | 'maximumBytes'>
  prompt: PromptOptions
  limits: RunLimits
  /** Hears of each conversation that nobody can come back to, once its run is over. */
  endConversation: (conversation: string) => void
}

export interface Agent {
  /**
   * One run: retrieve, then model ⇄ tools until there is an answer. Its events come in batches, which may be
   * empty; the last one is `run-end`. Throws AppError where retrieval or the model fails or too many runs are
   * under way, and what `signal` was aborted with.
   */
  run(request: AgentRequest, signal: AbortSignal): AsyncGenerator<readonly AgentEvent[]>
}

export function createAgent(parts: Dependencies): Agent {
  const gate = createRunGate(parts)
  return { run: (request, signal) => run(parts, gate, request, signal) }
}

async function* run(
  parts: Dependencies,
  gate: RunGate,
  request: AgentRequest,
  signal: AbortSignal,
): AsyncGenerator<readonly AgentEvent[]> {
  const pass = gate.enter()
  const conversation = request.conversationId ?? randomUUID()
  let reader: AnswerReader | undefined
  try {
    const context = await begin(parts, request, conversation, signal)
    for (;;) {
      reader = ask(parts, request, context, signal)
      for (let events = await reader.next(); events; events = await reader.next()) {
        yield pass.see(events)
      }
      const { answer } = reader
      const reason = outcomeOf(answer, request, context.turn.last)
      if (reason !== 'continue') {
        yield pass.see(ending(answer, request, context, reason))
        return
      }
      const calls = answer.calls.map(parseCall)
      yield callEvents(calls)
      const results = await runCalls(calls, context, signal)
      yield results.events
      context.spacing.part()
      context.messages.push({ role: 'assistant', content: answer.text, toolCalls: answer.calls })
      context.messages.push(...results.messages)
    }
  } catch (error) {
    pass.fail(error, signal)
    throw error
  } finally {
    pass.leave()
    // No other request can come back to a conversation that the client did not name.
    if (request.conversationId === undefined) parts.endConversation(conversation)
    await reader?.close()
  }
}

/** What one run knows and has used up. */
interface RunContext {
  citations: Citations
  artifacts: Artifacts
  tools: RunTools
  budget: RunBudget
  usage: ReturnType<typeof createUsageSum>
  spacing: Spacing
  /** The chunks that were found for the question. */
  chunks: readonly NumberedHit[]
  degraded: boolean
  /** What the model is asked with, which grows by its calls and their results. */
  messages: ModelMessage[]
  turn: Turn
}

/** Finds chunks for the question and assembles the prompt. */
async function begin(
  { retrieval, artifacts, prompt, limits, tools }: Dependencies,
  request: AgentRequest,
  conversation: string,
  signal: AbortSignal,
): Promise<RunContext> {
  const { topK, filter } = request
  const budget = createRunBudget(limits)
  const usage = createUsageSum()
  const query = questionOf(request)
  const { hits, degraded } = await retrieval.search({ query, topK, filter }, signal)
  const shared = { citations: createCitations(), artifacts: createArtifacts(artifacts) }
  const chunks = fitChunks(shared.citations.add(hits), prompt.contextTokens)
  const spend = (spent: ModelUsage) => {
    usage.add(spent)
    budget.charge(spent)
  }
  return {
    ...{ ...shared, chunks, degraded, budget, usage, spacing: createSpacing() },
    tools: tools.open({ ...shared, filter, conversation, spend }),
    messages: assemblePrompt(request.conversation, chunks, prompt),
    turn: { round: 0, last: undefined },
  }
}

/** Begins the next call of the model. */
function ask(
  { model, prompt }: Dependencies,
  request: AgentRequest,
  context: RunContext,
  signal: AbortSignal,
): AnswerReader {
  const { budget, usage, citations, spacing, chunks } = context
  context.turn = { round: context.turn.round + 1, last: budget.beginRound() }
  const messages = fitResults(context.messages, prompt.contextTokens)
  const offered = model.supportsTools ? offer(request, context.tools) : []
  const asked = {
    messages,
    tools: offered,
    toolChoice: offered.length > 0 ? choiceOf(request, context.turn) : undefined,
    sampling: request.sampling,
    chunks: chunks.map(({ hit }) => hit),
  }
  const { answerTime } = budget
  return readAnswer(model.stream(asked, AbortSignal.any([signal, answerTime])), {
    citations: citations.check(asksForJson(request)),
    onEnd(answer) {
      budget.spend(answer, sizeOfMessages(messages))
      usage.add(answer.usage)
    },
    ...{ spacing, answerTime, signal },
  })
}

function ending(
  answer: Answer,
  request: AgentRequest,
  { citations, artifacts, degraded, budget, usage }: RunContext,
  reason: RunFinishReason,
): AgentEvent[] {
  for (const limit of LIMIT_NAMES) if (LIMIT_REASONS[limit] === reason) budget.note(limit)
  const end: AgentEvent = {
    ...{ type: 'run-end', reason, degraded },
    usage: usage.total(),
    hits: citations.all(),
    artifacts: artifacts.all(),
    limitsReached: budget.reached(),
    unknownCitations: citations.unknown(),
  }
  if (reason !== 'tool_calls') return [end]
  return [{ type: 'client-tool-calls', calls: clientCalls(answer, request) }, end]
}
