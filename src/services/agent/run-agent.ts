import { randomUUID } from 'node:crypto'
import type { ChatModel, ModelMessage, Usage } from '../../models/chat-model.ts'
import { sizeOfMessages } from '../../models/token-estimate.ts'
import type { RunFinishReason } from '../../schemas/chat.ts'
import { LIMIT_NAMES } from '../../schemas/run-limit.ts'
import type { ArtifactStore } from '../../stores/artifact-store.ts'
import type { Retrieval } from '../retrieval/create-retrieval.ts'
import { type Artifacts, createArtifacts } from '../tools/artifacts.ts'
import type { RunTools, ToolRegistry } from '../tools/registry.ts'
import type { AgentEvent } from './agent-event.ts'
import { type AgentRequest, asksForJson, questionOf } from './agent-request.ts'
import { type Citations, createCitations, type NumberedHit } from './citations.ts'
import { fitResults } from './fit-results.ts'
import { assemblePrompt, fitPassages, type PromptOptions } from './prompt.ts'
import { type Answer, relayAnswer } from './relay-answer.ts'
import { createRunBudget, LIMIT_REASONS, type RunBudget, type RunLimits } from './run-budget.ts'
import { spaceTexts } from './space-texts.ts'
import { choiceOf, clientCalls, offer, outcomeOf, type Turn } from './turn.ts'
import { createUsageSum } from './usage-sum.ts'
import { useTools } from './use-tools.ts'

interface Dependencies {
  model: ChatModel
  retrieval: Pick<Retrieval, 'search'>
  tools: Pick<ToolRegistry, 'open'>
  artifacts: Pick<ArtifactStore, 'add' | 'maximumBytes'>
  prompt: PromptOptions
  limits: RunLimits
}

export interface Agent {
  /**
   * One run: retrieve, then model ⇄ tools until there is an answer. Ends with `run-end`; throws AppError
   * where retrieval or the model fails, and what `signal` was aborted with.
   */
  run(request: AgentRequest, signal: AbortSignal): AsyncGenerator<AgentEvent>
}

export function createAgent(parts: Dependencies): Agent {
  const { model, retrieval, tools, artifacts, prompt, limits } = parts

  async function* run(request: AgentRequest, signal: AbortSignal): AsyncGenerator<AgentEvent> {
    const context = await begin(request, signal)
    const messages = assemblePrompt(request.conversation, context.passages, prompt)
    const { usage } = context

    for (let round = 1; ; round += 1) {
      const last = context.budget.beginRound()
      const answer = yield* ask(request, messages, context, { round, last }, signal)
      usage.add(answer.usage)

      const reason = outcomeOf(answer, request, last)
      if (reason === 'continue') {
        messages.push({ role: 'assistant', content: answer.text, toolCalls: answer.calls })
        messages.push(...(yield* useTools(answer.calls, context, signal)))
        continue
      }
      if (reason === 'tool_calls') {
        yield { type: 'client-tool-calls', calls: clientCalls(answer, request) }
      }
      yield { type: 'run-end', reason, usage: usage.total(), ...resultOf(context, reason) }
      return
    }
  }

  async function begin(request: AgentRequest, signal: AbortSignal): Promise<RunContext> {
    const { topK, filter, conversationId: conversation = randomUUID() } = request
    const budget = createRunBudget(limits)
    const usage = createUsageSum()
    const query = questionOf(request)
    const { hits, degraded } = await retrieval.search({ query, topK, filter }, signal)
    const shared = { citations: createCitations(), artifacts: createArtifacts(artifacts) }
    const passages = fitPassages(shared.citations.add(hits), prompt.contextTokens)
    const spend = (spent: Usage) => {
      usage.add(spent)
      budget.charge(spent)
    }
    return {
      ...{ ...shared, passages, degraded, budget, usage },
      tools: tools.open({ ...shared, filter, conversation, spend }),
    }
  }

  async function* ask(
    request: AgentRequest,
    messages: readonly ModelMessage[],
    { passages, tools: own, budget, citations }: RunContext,
    turn: Turn,
    signal: AbortSignal,
  ): AsyncGenerator<AgentEvent, Answer> {
    const fitted = fitResults(messages, prompt.contextTokens)
    const offered = model.supportsTools ? offer(request, own) : []
    const asked = {
      messages: fitted,
      tools: offered,
      toolChoice: offered.length > 0 ? choiceOf(request, turn) : undefined,
      sampling: request.sampling,
      passages: passages.map(({ hit }) => hit),
    }
    const { answerTime } = budget
    const events = model.stream(asked, AbortSignal.any([signal, answerTime]))
    const relay = { citations: citations.check(asksForJson(request)), answerTime, signal }
    const answer = yield* relayAnswer(events, relay)
    budget.spend(answer, sizeOfMessages(fitted))
    return answer
  }

  return { run: (request, signal) => spaceTexts(run(request, signal)) }
}

interface RunContext {
  citations: Citations
  artifacts: Artifacts
  tools: RunTools
  budget: RunBudget
  usage: ReturnType<typeof createUsageSum>
  passages: readonly NumberedHit[]
  degraded: boolean
}

function resultOf({ citations, artifacts, degraded, budget }: RunContext, reason: RunFinishReason) {
  for (const limit of LIMIT_NAMES) if (LIMIT_REASONS[limit] === reason) budget.note(limit)
  return {
    hits: citations.all(),
    artifacts: artifacts.all(),
    degraded,
    limitsReached: budget.reached(),
    unknownCitations: citations.unknown(),
  }
}
