import { randomUUID } from 'node:crypto'
import { AppError } from '../../errors.ts'
import type { ChatModel, ModelMessage, Usage } from '../../models/chat-model.ts'
import { sizeOfMessages } from '../../models/token-estimate.ts'
import type { RunFinishReason } from '../../schemas/chat.ts'
import { LIMIT_NAMES } from '../../schemas/fields.ts'
import type { ArtifactStore } from '../../stores/artifact-store.ts'
import type { Retrieval } from '../retrieval/search.ts'
import { type Artifacts, createArtifacts } from '../tools/artifacts.ts'
import type { RunTools, ToolRegistry } from '../tools/registry.ts'
import { type AgentEvent, type AgentRequest, asksForJson, questionOf } from './agent-event.ts'
import { createRunBudget, LIMIT_REASONS, type RunBudget, type RunLimits } from './budget.ts'
import { type Citations, createCitations, type NumberedHit } from './citations.ts'
import {
  type Answer,
  choiceOf,
  clientCalls,
  createUsageSum,
  offer,
  outcomeOf,
  relayAnswer,
  type Turn,
} from './model-turn.ts'
import { assemblePrompt, fitChunks, fitResults, type PromptOptions } from './prompt.ts'
import { useTools } from './tool-calls.ts'

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
    const messages = assemblePrompt(request.conversation, context.chunks, prompt)
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
    const chunks = fitChunks(shared.citations.add(hits), prompt.contextTokens)
    const spend = (spent: Usage) => {
      usage.add(spent)
      budget.charge(spent)
    }
    return {
      ...{ ...shared, chunks, degraded, budget, usage },
      tools: tools.open({ ...shared, filter, conversation, spend }),
    }
  }

  async function* ask(
    request: AgentRequest,
    messages: readonly ModelMessage[],
    { chunks, tools: own, budget, citations }: RunContext,
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
      chunks: chunks.map(({ hit }) => hit),
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
  chunks: readonly NumberedHit[]
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

const RETRY_AFTER_SECONDS = 2

/** The same agent, refusing with `too_many_runs` what comes while `maximum` runs are under way. */
export function limitRuns(agent: Agent, maximum: number): Agent {
  let open = 0

  return {
    async *run(request, signal) {
      if (open >= maximum) {
        const message = `${maximum} chats are under way; try again shortly`
        throw new AppError('too_many_runs', message, { retryAfter: RETRY_AFTER_SECONDS })
      }
      open += 1
      try {
        yield* agent.run(request, signal)
      } finally {
        open -= 1
      }
    },
  }
}

export interface FinishedRun {
  /** The finish reason, an error code, or `abandoned` where the caller left. */
  outcome: string
  milliseconds: number
  /** Time to the first text, in milliseconds; nothing where none came. */
  firstDelta: number | undefined
}

/** Hears when a run begins and when it is over, however it ends. */
export interface RunObserver {
  runStarted(): void
  runEnded(run: FinishedRun): void
}

/** The same agent, telling `observer` of its runs. */
export function observeRuns(agent: Agent, observer: RunObserver): Agent {
  return {
    async *run(request, signal) {
      const started = performance.now()
      const seen: Seen = { outcome: 'abandoned', firstDelta: undefined }
      observer.runStarted()
      try {
        for await (const event of agent.run(request, signal)) {
          note(event, seen, started)
          yield event
        }
      } catch (error) {
        seen.outcome = runOutcomeOf(error, signal)
        throw error
      } finally {
        observer.runEnded({ ...seen, milliseconds: performance.now() - started })
      }
    },
  }
}

type Seen = Pick<FinishedRun, 'outcome' | 'firstDelta'>

function runOutcomeOf(error: unknown, signal: AbortSignal): string {
  if (error instanceof AppError) return error.code
  return signal.aborted ? 'abandoned' : 'internal'
}

function note(event: AgentEvent, seen: Seen, started: number): void {
  if (event.type === 'text-delta') seen.firstDelta ??= performance.now() - started
  if (event.type === 'run-end') seen.outcome = event.reason
}

/**
 * The same agent, telling `end` of each conversation that is over with its run: one that the client did not
 * name, so that no other request can come back to what a tool keeps for it.
 */
export function endConversations(agent: Agent, end: (conversation: string) => void): Agent {
  return {
    async *run(request, signal) {
      if (request.conversationId !== undefined) {
        yield* agent.run(request, signal)
        return
      }
      const conversationId = randomUUID()
      try {
        yield* agent.run({ ...request, conversationId }, signal)
      } finally {
        end(conversationId)
      }
    },
  }
}

const PARAGRAPH = '\n\n'

/** The same events, with a blank line between what the model says before it calls tools and what it says after. */
export async function* spaceTexts(events: AsyncIterable<AgentEvent>): AsyncGenerator<AgentEvent> {
  let end = ''
  let isParted = false
  for await (const event of events) {
    if (event.type === 'tool-result') isParted = true
    if (event.type !== 'text-delta' || event.text === '') {
      yield event
      continue
    }
    const isJoined = isParted && end !== '' && end !== '\n'
    yield isJoined ? { ...event, text: PARAGRAPH + event.text } : event
    isParted = false
    end = event.text.slice(-1)
  }
}
