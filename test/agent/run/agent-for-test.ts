import { UNMETERED } from '@agent-server/models'
import { createAnalyser } from '@agent-server/search'
import type { AgentEvent, AgentRequest } from '@agent-server/wire'
import { z } from 'zod'
import type { RunLimits } from '../../../src/agent/run/budget.ts'
import { createPauses } from '../../../src/agent/run/pause.ts'
import type { PromptOptions } from '../../../src/agent/run/prompt.ts'
import { createAgent } from '../../../src/agent/run/run-agent.ts'
import { createRunLimiter, type RunLimiterOptions } from '../../../src/agent/run/run-limiter.ts'
import { createSentQuestions, type SentQuestions } from '../../../src/agent/run/sent-questions.ts'
import { createWindow } from '../../../src/agent/run/window.ts'
import { defineTool, type Tool } from '../../../src/agent/tools/define-tool.ts'
import { ToolRegistry } from '../../../src/agent/tools/registry.ts'
import type { Search } from '../../../src/retrieval/search.ts'
import { eachEvent } from '../../support/batches.ts'
import { hitOf } from '../../support/hit.ts'
import { createMemoryArtifactStore } from '../tools/memory-artifact-store.ts'
import { createScriptedModel, type ScriptedAnswer } from './scripted-model.ts'

interface AgentParts extends Partial<RunLimiterOptions> {
  sentQuestions?: SentQuestions
  answers: readonly ScriptedAnswer[]
  /** The chunks that the corpus holds for any question, by their identifiers. */
  found?: readonly string[]
  tools?: readonly Tool[]
  supportsTools?: boolean
  prompt?: Partial<PromptOptions>
  contextTokens?: number
  limits?: Partial<RunLimits>
  endSession?: (sessionId: string) => void
}

export const SILENT = { info: () => undefined, warn: () => undefined, error: () => undefined }

const analyser = createAnalyser('english')

const UNCOUNTED = {
  maxRuns: 100,
  observer: { runStarted: () => undefined, runEnded: () => undefined },
}

/** What a test gives an agent whose runs it neither counts nor watches. */
export const UNWATCHED = {
  limiter: createRunLimiter(UNCOUNTED),
  endSession: () => undefined,
  name: 'agent',
  payment: { check: async () => undefined, meter: () => UNMETERED },
  pauses: createPauses(createMemoryArtifactStore(), async () => new Set()),
  sentQuestions: createSentQuestions({ getAll: async () => new Map() }),
  links: 'all' as const,
  citationCheck: 'words' as const,
  hosts: [],
  isStopWord: (word: string) => ['when', 'does', 'is', 'the'].includes(word),
  termsOf: (text: string) => analyser.query(text).terms,
}

export const LIMITS: RunLimits = { rounds: 8, toolCalls: 64, seconds: 300, tokens: 1_000_000 }

/** The real loop, registry and prompt around a scripted model and a corpus of a few chunks. */
export function createAgentForTest(parts: AgentParts) {
  const { answers, found = [], tools = [], supportsTools, prompt, limits, ...watching } = parts
  const limiter = createRunLimiter({ ...UNCOUNTED, ...watching })
  const { contextTokens = 32_768 } = parts
  const model = createScriptedModel(answers, supportsTools)
  const searches: Search[] = []
  const retrieval = {
    search: async (query: Search, signal?: AbortSignal) => {
      signal?.throwIfAborted()
      searches.push(query)
      return { hits: found.map(hitOf), corrections: [], degraded: false }
    },
  }
  const registry = new ToolRegistry({
    sources: [() => tools],
    isEnabled: () => true,
    log: SILENT,
  })
  const agent = createAgent({
    model,
    retrieval,
    tools: registry,
    artifacts: createMemoryArtifactStore(),
    prompt: { prompt: '', ...prompt },
    window: createWindow({ model, contextTokens, log: SILENT }),
    limits: { ...LIMITS, ...limits },
    ...UNWATCHED,
    ...watching,
    limiter,
  })
  const run = (request: Partial<AgentRequest> = {}, signal = new AbortController().signal) =>
    withoutSearches(eachEvent(agent.run({ ...question('When does it open?'), ...request }, signal)))

  return {
    model,
    searches,
    run,
    /** Every event of one run. */
    events: (request: Partial<AgentRequest> = {}) => Array.fromAsync(run(request)),
  }
}

/** What was found is in the prompt and at the end, where these tests look. */
async function* withoutSearches(events: AsyncIterable<AgentEvent>): AsyncGenerator<AgentEvent> {
  for await (const event of events) if (event.type !== 'retrieved') yield event
}

export function question(content: string): AgentRequest {
  const messages = [{ role: 'user' as const, content }]
  return { messages, instructions: [], topK: 5, rewrite: true, sampling: {}, clientTools: [] }
}

/** A tool that answers `answer`, whatever it is asked. */
export function toolAnswering(name: string, answer: string | (() => Promise<string>)): Tool {
  return defineTool({
    name,
    title: name,
    description: `Answers ${name}`,
    input: z.looseObject({}),
    run: async () => (typeof answer === 'string' ? answer : answer()),
  })
}

/** The events in a few words each. */
export function outline(events: readonly AgentEvent[]): unknown[] {
  return events.map((event) => {
    if (event.type === 'text-delta') return event.text
    if (event.type === 'reasoning-delta') return `thinks: ${event.text}`
    if (event.type === 'progress') return `progress: ${event.phase}`
    return outlineOf(event)
  })
}

function outlineOf(
  event: Exclude<AgentEvent, { type: 'text-delta' | 'reasoning-delta' | 'progress' }>,
) {
  if (event.type === 'run-end') return `end: ${event.reason}`
  if (event.type === 'client-tool-calls') return event.calls.map(({ name }) => `client: ${name}`)
  if (event.type === 'approval-required') return event.calls.map(({ tool }) => `waits: ${tool}`)
  if (event.type === 'retrieved') return `searched: ${event.query}`
  if (event.type === 'citations') return `citations: ${event.citations.length}`
  if (event.type === 'search-step') return `step: ${event.step.action}`
  return `${event.type}: ${event.tool}`
}

export function endOf(events: readonly AgentEvent[]): Extract<AgentEvent, { type: 'run-end' }> {
  const last = events.at(-1)
  if (last?.type !== 'run-end') throw new Error('The run did not end with run-end')
  return last
}
