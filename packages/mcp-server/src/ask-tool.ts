import { AppError } from '@agent-server/lib/errors.ts'
import { filledText } from '@agent-server/lib/fields.ts'
import type { AgentFields } from '@agent-server/schemas/chat.ts'
import type { Caller } from '@agent-server/schemas/operator/api-key.ts'
import { isIncluded } from '@agent-server/schemas/visibility.ts'
import {
  type AgentEvent,
  type AgentRequest,
  type DialectServices,
  RunCollector,
  type RunEnd,
  readAgentFields,
} from '@agent-server/wire'
import type { McpServer } from '@modelcontextprotocol/server'
import { z } from 'zod'
import {
  type Guard,
  MAX_QUESTION,
  READ_ONLY,
  SCOPE_FIELDS,
  Source,
  sourceOf,
  type ToolAnswer,
  toSource,
} from './corpus-tools.ts'

const AgentAnswer = z.object({
  answer: z.string(),
  sources: z.array(Source).describe('In the order of their citation numbers, from 1.'),
  files: z.array(z.object({ name: z.string(), mediaType: z.string(), url: z.string() })),
})

/** Adds the agent as a tool, with those of its further agents that the caller may ask. */
export function addAgentTool(
  server: McpServer,
  { agent, dialects }: Pick<DialectServices, 'agent' | 'dialects'>,
  caller: Caller,
  guarded: Guard,
): void {
  const others = [...dialects.agents].filter(([, { access }]) => isIncluded(caller, access))
  const Question = z.object({
    question: filledText(MAX_QUESTION),
    ...SCOPE_FIELDS,
    agent: z
      .enum(others.map(([name]) => name))
      .optional()
      .describe(`Which agent answers, if not the first: ${others.map(describeAgent).join('; ')}.`),
  })
  server.registerTool(
    'ask',
    {
      title: 'Ask the agent',
      description:
        'Has the agent answer a question from the documents, using all of its tools. Returns the answer and the cited sources.',
      inputSchema: others.length > 0 ? Question : Question.omit({ agent: true }),
      outputSchema: AgentAnswer,
      annotations: READ_ONLY,
    },
    (question, { mcpReq }) => {
      const progressToken = mcpReq._meta?.progressToken
      const report: Report = async (progress, message) => {
        if (progressToken === undefined) return
        const params = { progressToken, progress, message }
        await mcpReq.notify({ method: 'notifications/progress', params })
      }
      const request = toAgentRequest(question, caller, dialects)
      return guarded(() => askAgent(agent.run(request, mcpReq.signal), report))
    },
  )
}

const describeAgent = ([name, { description }]: [string, { description?: string | undefined }]) =>
  description === undefined ? `\`${name}\`` : `\`${name}\` (${description})`

interface Question
  extends Pick<AgentFields, 'topK' | 'minScore' | 'mode' | 'collection' | 'filter'> {
  question: string
  agent?: string | undefined
}

export function toAgentRequest(
  { question, agent, ...fields }: Question,
  caller: Caller,
  settings: DialectServices['dialects'],
): AgentRequest {
  return {
    ...readAgentFields({ ...fields, rewrite: false }, settings),
    ...(agent !== undefined && { agent }),
    caller,
    messages: [{ role: 'user', content: question }],
    instructions: [],
    sampling: {},
    clientTools: [],
  }
}

/** Tells how far an answer is; `progress` grows with each call. */
type Report = (progress: number, message: string) => Promise<void>

/** The interval between progress notifications; clients give up a call that shows no progress. */
const PROGRESS_MS = 1_000
/** As long as a tool runs, a run has no events. */
const SILENCE_MS = 10_000
/** UTF-16 code units. */
const MAX_MESSAGE = 200

/** Returns the agent's answer and the sources that its citation numbers refer to. Throws AppError if the run fails. */
export async function askAgent(
  run: AsyncIterable<readonly AgentEvent[]>,
  report: Report,
): Promise<ToolAnswer> {
  const collected = new RunCollector()
  let reportedAt = performance.now()
  let progress = 0
  let message = 'Searching'
  const tell = async () => {
    reportedAt = performance.now()
    progress += 1
    await report(progress, message)
  }
  // A client that has gone ends the run by its signal.
  const silence = setInterval(() => void tell().catch(() => undefined), SILENCE_MS).unref()
  try {
    for await (const events of run) {
      collected.take(events)
      if (collected.hasEnded) continue
      const before = message
      message = events.reduce((last, event) => describe(event) ?? last, message)
      if (message !== before || performance.now() - reportedAt >= PROGRESS_MS) await tell()
    }
  } finally {
    clearInterval(silence)
  }
  if (!collected.hasEnded) throw new AppError('internal', 'The answer ended unexpectedly')
  const { text, end } = collected
  return toAnswer(text + waitingFor(end), end)
}

const DOING: Partial<Record<AgentEvent['type'], string>> = {
  'search-step': 'Searching',
  'reasoning-delta': 'Thinking',
  progress: 'Waiting for the model',
  'text-delta': 'Answering',
}

/** What the agent does, for a person who waits; undefined if the event says nothing about it. */
function describe(event: AgentEvent): string | undefined {
  if (event.type === 'retrieved') return `Searched for: ${event.query}`.slice(0, MAX_MESSAGE)
  if (event.type === 'tool-call') return `Using ${event.tool}`
  if (event.type === 'tool-progress' && event.message !== undefined) {
    return `${event.tool}: ${event.message}`.slice(0, MAX_MESSAGE)
  }
  return DOING[event.type]
}

function waitingFor({ approval }: RunEnd): string {
  if (!approval) return ''
  const tools = approval.calls.map(({ tool }) => tool).join(', ')
  return `\n\nNot finished: ${tools} is waiting for approval, which can only be given through /chat.`
}

function toAnswer(text: string, { hits, artifacts }: RunEnd): ToolAnswer {
  const files = artifacts.map(({ name, mediaType, url }) => ({ name, mediaType, url }))
  const sources = hits.map((hit, index) => `[${index + 1}] ${sourceOf(hit)}`)
  const lines = files.map(({ name, mediaType, url }) => `${name} (${mediaType}): ${url}`)
  return {
    text: [text, listOf('Sources', sources), listOf('Files', lines)].join(''),
    structured: { answer: text, sources: hits.map(toSource), files },
  }
}

function listOf(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : `\n\n${title}:\n${lines.join('\n')}`
}
