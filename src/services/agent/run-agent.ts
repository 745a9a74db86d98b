import { randomUUID } from 'node:crypto'
import type { ChatModel, ModelMessage, ModelTool, Sampling } from '../../models/chat-model.ts'
import type { RunFinishReason } from '../../schemas/chat.ts'
import type { Filter } from '../../schemas/metadata.ts'
import type { ArtifactStore } from '../../stores/artifact-store.ts'
import type { Retrieval } from '../retrieval/create-retrieval.ts'
import { type Artifacts, createArtifacts } from '../tools/artifacts.ts'
import type { Tool } from '../tools/define-tool.ts'
import type { RunTools, ToolRegistry } from '../tools/registry.ts'
import type { AgentEvent } from './agent-event.ts'
import { type Citations, createCitations, type NumberedHit } from './citations.ts'
import { assemblePrompt, type Conversation, fitPassages, type PromptOptions } from './prompt.ts'
import { type Answer, relayAnswer } from './relay-answer.ts'
import { createUsageSum } from './usage-sum.ts'
import { useTools } from './use-tools.ts'

/** Model calls in one run. In the last of them tools may not be called, so that it answers. */
const MAXIMUM_ROUNDS = 8

export interface AgentRequest {
  conversation: Conversation
  /** As the client names it; nothing is kept for a run without one. */
  conversationId?: string | undefined
  topK: number
  /** Documents that the run may find passages in; all where there is none. */
  filter?: Filter | undefined
  sampling: Sampling
  /** Tools that the client runs itself. One that bears the name of a server's tool hides it for this run. */
  clientTools: readonly ModelTool[]
  toolChoice?: unknown
}

interface Dependencies {
  model: ChatModel
  retrieval: Pick<Retrieval, 'search'>
  tools: Pick<ToolRegistry, 'open'>
  artifacts: Pick<ArtifactStore, 'add' | 'maximumBytes'>
  prompt: PromptOptions
}

export interface Agent {
  /**
   * One run: retrieve, then model ⇄ tools until there is an answer. Ends with `run-end`; throws AppError
   * where retrieval or the model fails, and what `signal` was aborted with.
   */
  run(request: AgentRequest, signal: AbortSignal): AsyncGenerator<AgentEvent>
}

export function createAgent({ model, retrieval, tools, artifacts, prompt }: Dependencies): Agent {
  async function* run(request: AgentRequest, signal: AbortSignal): AsyncGenerator<AgentEvent> {
    const context = await begin(request, signal)
    const messages = assemblePrompt(request.conversation, context.passages, prompt)
    const usage = createUsageSum()

    for (let round = 1; ; round += 1) {
      const last = round === MAXIMUM_ROUNDS
      const answer = yield* relayAnswer(ask(request, messages, context, round, signal))
      usage.add(answer.usage)

      const reason = outcomeOf(answer, request, last)
      if (reason === 'continue') {
        messages.push({ role: 'assistant', content: answer.text, toolCalls: answer.calls })
        messages.push(...(yield* useTools(answer.calls, context.tools, signal)))
        continue
      }
      if (reason === 'tool_calls') {
        const calls = answer.calls.filter(({ name }) => isClientTool(request, name))
        yield { type: 'client-tool-calls', calls }
      }
      yield { type: 'run-end', reason, usage: usage.total(), ...resultOf(context) }
      return
    }
  }

  async function begin(request: AgentRequest, signal: AbortSignal): Promise<RunContext> {
    const { topK, filter, conversationId: conversation = randomUUID() } = request
    const query = questionOf(request.conversation)
    const { hits, degraded } = await retrieval.search({ query, topK, filter }, signal)
    const shared = { citations: createCitations(), artifacts: createArtifacts(artifacts) }
    const passages = fitPassages(shared.citations.add(hits), prompt.contextTokens)
    return { ...shared, passages, degraded, tools: tools.open({ ...shared, filter, conversation }) }
  }

  function ask(
    request: AgentRequest,
    messages: readonly ModelMessage[],
    { passages, tools: own }: RunContext,
    round: number,
    signal: AbortSignal,
  ) {
    const offered = offer(request, own)
    const toolChoice = offered.length > 0 ? choiceOf(request, round) : undefined
    const { sampling } = request
    const cited = passages.map(({ hit }) => hit)
    return model.stream({ messages, tools: offered, toolChoice, sampling, passages: cited }, signal)
  }

  function offer({ clientTools }: AgentRequest, tools: RunTools): ModelTool[] {
    if (!model.supportsTools) return []
    const hidden = new Set(clientTools.map(({ name }) => name))
    const own = tools.offered().filter(({ name }) => !hidden.has(name))
    return [...own.map(toModelTool), ...clientTools]
  }

  return { run }
}

interface RunContext {
  citations: Citations
  artifacts: Artifacts
  tools: RunTools
  passages: readonly NumberedHit[]
  degraded: boolean
}

function resultOf({ citations, artifacts, degraded }: RunContext) {
  return { hits: citations.all(), artifacts: artifacts.all(), degraded }
}

/**
 * That the caller insists on a call holds for the first one only, or the model could never answer. In the
 * last one the tools stay, since some servers refuse a conversation with calls in it otherwise.
 */
function choiceOf({ toolChoice }: AgentRequest, round: number): unknown {
  if (round === MAXIMUM_ROUNDS) return 'none'
  return round === 1 || toolChoice === 'none' ? toolChoice : undefined
}

function outcomeOf(
  answer: Answer,
  request: AgentRequest,
  last: boolean,
): RunFinishReason | 'continue' {
  if (answer.calls.some(({ name }) => isClientTool(request, name))) return 'tool_calls'
  if (last) return 'round_limit'
  return answer.calls.length > 0 ? 'continue' : answer.reason
}

function questionOf({ messages }: Conversation): string {
  return messages.findLast(({ role }) => role === 'user')?.content ?? ''
}

function isClientTool({ clientTools }: AgentRequest, name: string): boolean {
  return clientTools.some((tool) => tool.name === name)
}

function toModelTool({ name, description, inputSchema }: Tool): ModelTool {
  return { name, description, parameters: inputSchema }
}
