import { AppError } from '@agent-server/lib/errors.ts'
import { filledText } from '@agent-server/lib/fields.ts'
import type { Log } from '@agent-server/lib/log.ts'
import type { AgentFields } from '@agent-server/schemas/chat.ts'
import type { Caller } from '@agent-server/schemas/operator/api-key.ts'
import {
  type AgentEvent,
  type AgentRequest,
  type DialectServices,
  RunCollector,
  type RunEnd,
  readAgentFields,
} from '@agent-server/wire'
import { type AuthInfo, createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { z } from 'zod'
import {
  addCorpusTools,
  type Guard,
  MAX_QUESTION,
  READ_ONLY,
  SCOPE_FIELDS,
  Source,
  sourceOf,
  type ToolAnswer,
  toSource,
} from './corpus-tools.ts'
import { addDocumentResources } from './document-resources.ts'
import type { Corpus } from './services.ts'

const INSTRUCTIONS =
  'A collection of documents. Use `query` to find passages, `get_document` to read more of a document, and `ask` to have the server’s agent answer a question with citations.'

export interface McpDependencies extends DialectServices {
  /** The corpus restricted to what a caller may see. */
  corpusFor: (caller: Caller) => Corpus
  version: string
  log: Pick<Log, 'warn' | 'error'>
}

/** The corpus and the agent as an MCP server for clients of both eras of the protocol; stateless between requests. */
export function createHandler(dependencies: McpDependencies) {
  const { log } = dependencies
  const callers = new WeakMap<object, Caller>()
  const build = ({ authInfo = NOBODY }: { authInfo?: AuthInfo }) => {
    const caller = callers.get(authInfo)
    if (!caller) throw new Error('An MCP request without a caller')
    return createServer(dependencies, caller)
  }
  const handler = createMcpHandler(build, {
    maxSubscriptions: Number.POSITIVE_INFINITY,
    // Failures of the exchange, which are the client's; failures of tools are logged by `answer`.
    onerror: ({ name, message }) => log.warn({ name }, `MCP request failed: ${message}`),
  })
  return {
    fetch(request: Request, parsedBody: unknown, caller: Caller): Promise<Response> {
      const authInfo = { token: '', clientId: caller.key?.id ?? '', scopes: [...caller.scopes] }
      callers.set(authInfo, caller)
      return handler.fetch(request, { parsedBody, authInfo })
    },
    close: () => handler.close(),
  }
}

const NOBODY: AuthInfo = { token: '', clientId: '', scopes: [] }

/** A server with the tools and resources that the caller may use. */
function createServer(dependencies: McpDependencies, caller: Caller): McpServer {
  const { version, corpusFor, log } = dependencies
  const mayRead = caller.scopes.includes('query')
  const unchanging = { listChanged: false }
  const server = new McpServer(
    { name: 'agent-server', version },
    {
      instructions: INSTRUCTIONS,
      capabilities: { tools: unchanging, ...(mayRead && { resources: unchanging }) },
    },
  )
  const guarded: Guard = (work) => answer(work, log)
  if (mayRead) {
    const corpus = corpusFor(caller)
    addCorpusTools(server, corpus, guarded)
    addDocumentResources(server, corpus.documents, log)
  }
  if (caller.scopes.includes('chat')) addAgentTool(server, dependencies, caller, guarded)
  return server
}

const AgentAnswer = z.object({
  answer: z.string(),
  sources: z.array(Source).describe('In the order of their citation numbers, from 1.'),
  files: z.array(z.object({ name: z.string(), mediaType: z.string(), url: z.string() })),
})

function addAgentTool(
  server: McpServer,
  { agent, dialects }: DialectServices,
  caller: Caller,
  guarded: Guard,
): void {
  server.registerTool(
    'ask',
    {
      title: 'Ask the agent',
      description:
        'Has the agent answer a question from the documents, using all of its tools. Returns the answer and the cited sources.',
      inputSchema: z.object({ question: filledText(MAX_QUESTION), ...SCOPE_FIELDS }),
      outputSchema: AgentAnswer,
      annotations: READ_ONLY,
    },
    (question, { mcpReq }) => {
      const progressToken = mcpReq._meta?.progressToken
      const report = async (progress: number) => {
        if (progressToken === undefined) return
        const params = { progressToken, progress }
        await mcpReq.notify({ method: 'notifications/progress', params })
      }
      const request = toAgentRequest(question, caller, dialects)
      return guarded(() => askAgent(agent.run(request, mcpReq.signal), report))
    },
  )
}

/** The client sees errors that this server anticipated; anything else goes only to the log. */
async function answer(
  work: () => Promise<ToolAnswer>,
  log: McpDependencies['log'],
): ReturnType<Guard> {
  const failed = (text: string) => ({ content: inText(text), isError: true as const })
  try {
    const { text, structured } = await work()
    return { content: inText(text), structuredContent: structured }
  } catch (error) {
    if (error instanceof AppError) return failed(error.message)
    log.error({ err: error }, 'MCP tool failed')
    return failed('The tool failed; see the server log')
  }
}

const inText = (text: string) => [{ type: 'text' as const, text }]

/** The interval between progress notifications; clients give up a call that shows no progress. */
const PROGRESS_MS = 1_000

interface Question
  extends Pick<AgentFields, 'topK' | 'minScore' | 'mode' | 'collection' | 'filter'> {
  question: string
}

export function toAgentRequest(
  { question, ...fields }: Question,
  caller: Caller,
  settings: DialectServices['dialects'],
): AgentRequest {
  return {
    ...readAgentFields({ ...fields, rewrite: false }, settings),
    caller,
    messages: [{ role: 'user', content: question }],
    instructions: [],
    sampling: {},
    clientTools: [],
  }
}

/** Returns the agent's answer and the sources that its citation numbers refer to. Throws AppError if the run fails. */
export async function askAgent(
  run: AsyncIterable<readonly AgentEvent[]>,
  report: (progress: number) => Promise<void>,
): Promise<ToolAnswer> {
  const collected = new RunCollector()
  let reportedAt = performance.now()
  let progress = 0
  for await (const events of run) {
    collected.take(events)
    progress += events.length
    if (collected.hasEnded || performance.now() - reportedAt < PROGRESS_MS) continue
    reportedAt = performance.now()
    await report(progress)
  }
  if (!collected.hasEnded) throw new AppError('internal', 'The answer ended unexpectedly')
  const { text, end } = collected
  return toAnswer(text + waitingFor(end), end)
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
