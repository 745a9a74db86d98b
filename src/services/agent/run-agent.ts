import { randomUUID } from 'node:crypto'
import { streamInSpan } from '../../lib/tracing.ts'
import type { ChatModel, ModelRequest } from '../../models/chat-model.ts'
import { sizeOfMessages } from '../../models/token-estimate.ts'
import { lastUserText, type RunFinishReason } from '../../schemas/chat.ts'
import { LIMIT_NAMES } from '../../schemas/fields.ts'
import type { ArtifactStore } from '../../stores/artifact-store.ts'
import type { Retrieval } from '../retrieval/search.ts'
import { createArtifacts } from '../tools/artifacts.ts'
import { parseCall, type ToolRegistry } from '../tools/registry.ts'
import { type AgentEvent, type AgentRequest, asksForJson } from './agent-event.ts'
import { createRunBudget, LIMIT_REASONS, type RunBudget, type RunLimits } from './budget.ts'
import { createCitations } from './citations.ts'
import {
  choiceOf,
  clientCalls,
  createSpacing,
  offer,
  outcomeOf,
  readAnswer,
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
  return {
    run(request, signal) {
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
  const pass = gate.enter()
  const conversation = request.conversationId ?? randomUUID()
  using budget = createRunBudget(parts.limits, signal)
  try {
    const context = await begin(parts, request, { conversation, budget }, signal)
    const { citations, spacing, messages } = context
    for (let round = 1; ; round += 1) {
      const turn = { round, last: budget.beginRound() }
      const asked = toModelRequest(parts, request, context, turn)
      const answer = yield* readAnswer(parts.model.stream(asked, budget.answerTime.signal), {
        citations: citations.check(asksForJson(request)),
        ...{ spacing, answerTime: budget.answerTime, signal, onText: pass.text },
      })
      budget.spend(answer.usage, sizeOfMessages(asked.messages) + Buffer.byteLength(answer.text))
      const reason = outcomeOf(answer, request, turn.last)
      if (reason !== 'continue') {
        pass.end(reason)
        const end = toRunEnd(context, reason)
        const calls = clientCalls(answer, request)
        yield calls.length > 0 ? [{ type: 'client-tool-calls', calls }, end] : [end]
        return
      }
      const calls = answer.calls.map(parseCall)
      yield callEvents(calls)
      const results = await runCalls(calls, context, signal)
      yield results.events
      spacing.part()
      messages.push({ role: 'assistant', content: answer.text, toolCalls: answer.calls })
      messages.push(...results.messages)
    }
  } catch (error) {
    pass.fail(error, signal)
    throw error
  } finally {
    pass.leave()
    // No other request can come back to a conversation that the client did not name.
    if (request.conversationId === undefined) parts.endConversation(conversation)
  }
}

type RunContext = Awaited<ReturnType<typeof begin>>

/** Finds chunks for the question and assembles the prompt. Gives what the run knows and uses up. */
async function begin(
  parts: Dependencies,
  request: AgentRequest,
  { conversation, budget }: { conversation: string; budget: RunBudget },
  signal: AbortSignal,
) {
  const { retrieval, prompt, tools } = parts
  const { topK, filter } = request
  const query = lastUserText(request.conversation.messages)
  const { hits, degraded } = await retrieval.search({ query, topK, filter }, signal)
  const citations = createCitations()
  const artifacts = createArtifacts(parts.artifacts)
  const chunks = fitChunks(citations.add(hits), prompt.contextTokens)
  return {
    ...{ citations, artifacts, chunks, degraded, budget, spacing: createSpacing() },
    tools: tools.open({ citations, artifacts, filter, conversation, spend: budget.spend }),
    /** What the model is asked with, which grows by its calls and their results. */
    messages: assemblePrompt(request.conversation, chunks, { ...prompt, key: citations.key }),
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
  { citations, artifacts, degraded, budget }: RunContext,
  reason: RunFinishReason,
): AgentEvent {
  for (const limit of LIMIT_NAMES) if (LIMIT_REASONS[limit] === reason) budget.note(limit)
  return {
    ...{ type: 'run-end', reason, degraded },
    usage: budget.usage(),
    hits: citations.all(),
    artifacts: artifacts.all(),
    limitsReached: budget.reached(),
    unknownCitations: citations.unknown(),
  }
}
