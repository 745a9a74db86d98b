import { type AuthInfo, createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { AppError } from '../../errors.ts'
import type { Caller } from '../../schemas/api-key.ts'
import type { ChatFrame, ChatRequest } from '../../schemas/chat.ts'
import { DocumentId } from '../../schemas/document.ts'
import { filledText } from '../../schemas/fields.ts'
import { CollectionName, within } from '../../schemas/metadata.ts'
import { SearchMode, TopK } from '../../schemas/query.ts'
import type { Chat } from '../chat/chat.ts'
import type { Documents } from '../ingestion/documents.ts'
import type { Retrieval } from '../retrieval/search.ts'

/** Streams that wait for notifications, all clients together. */
const MAX_SUBSCRIPTIONS = 64
const MAX_QUESTION = 10_000

const INSTRUCTIONS =
  'A collection of documents. Use `query` to find passages, `get_document` to read more of a document, and `ask` to have the agent of the server answer a question with citations.'

interface McpCorpus {
  retrieval: Pick<Retrieval, 'search'>
  documents: Pick<Documents, 'text'>
}

export interface McpDependencies {
  /** The corpus as a caller may see it. */
  limitedTo: (caller: Caller) => McpCorpus
  chat: Pick<Chat, 'frames'>
  version: string
  log: Record<'error' | 'warn', (fields: object, message: string) => void>
}

/** The corpus and the agent as an MCP server, for clients of both eras of the protocol. Nothing is kept between two requests. */
export function createHandler(dependencies: McpDependencies) {
  const { log } = dependencies
  const callers = new WeakMap<object, Caller>()
  const build = ({ authInfo = NOBODY }: { authInfo?: AuthInfo }) => {
    const caller = callers.get(authInfo)
    if (!caller) throw new Error('An MCP request without a caller')
    return createServer(dependencies, caller)
  }
  const handler = createMcpHandler(build, {
    maxSubscriptions: MAX_SUBSCRIPTIONS,
    // Of the exchange, which is the client's; what a tool fails with is logged by `answer`.
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

/** With the tools that the caller may use. */
function createServer(dependencies: McpDependencies, caller: Caller): McpServer {
  const { version } = dependencies
  const server = new McpServer(
    { name: 'agent-server', version },
    { instructions: INSTRUCTIONS, capabilities: { tools: { listChanged: false } } },
  )
  if (caller.scopes.includes('query')) addCorpusTools(server, dependencies, caller)
  if (caller.scopes.includes('chat')) addAgentTool(server, dependencies, caller)
  return server
}

const annotations = { readOnlyHint: true, openWorldHint: false }

function addCorpusTools(
  server: McpServer,
  { limitedTo, log }: McpDependencies,
  caller: Caller,
): void {
  const { retrieval, documents } = limitedTo(caller)
  const guarded = (work: () => Promise<string>) => answer(work, log)
  server.registerTool(
    'query',
    {
      title: 'Find passages',
      description: 'Returns the passages of the documents that answer a question best.',
      inputSchema: z.object({
        query: filledText(MAX_QUESTION),
        topK: TopK.default(5),
        mode: SearchMode.optional(),
        collection: CollectionName.optional(),
      }),
      annotations,
    },
    ({ collection, ...query }, { mcpReq }) =>
      guarded(async () => {
        const search = { ...query, filter: within({ collection }) }
        const { hits } = await retrieval.search(search, mcpReq.signal)
        if (hits.length === 0) return 'Nothing was found.'
        return hits.map((hit, index) => `[${index + 1}] ${sourceOf(hit)}\n${hit.text}`).join('\n\n')
      }),
  )
  server.registerTool(
    'get_document',
    {
      title: 'Read a document',
      description: 'Returns the text of a document, in pieces where it is long.',
      inputSchema: z.object({
        id: DocumentId,
        start: z.int().min(0).default(0).describe('Where to begin, in UTF-16 code units.'),
      }),
      annotations,
    },
    (input, { mcpReq }) => guarded(() => readDocument(documents, input, mcpReq.signal)),
  )
}

function addAgentTool(server: McpServer, { chat, log }: McpDependencies, caller: Caller): void {
  server.registerTool(
    'ask',
    {
      title: 'Ask the agent',
      description:
        'Has the agent answer a question from the documents, with all of its tools; returns the answer and the sources that it cites.',
      inputSchema: z.object({
        question: filledText(MAX_QUESTION),
        topK: TopK.optional(),
        mode: SearchMode.optional(),
        collection: CollectionName.optional(),
      }),
      annotations,
    },
    (question, { mcpReq }) => {
      const progressToken = mcpReq._meta?.progressToken
      const report = async (progress: number) => {
        if (progressToken === undefined) return
        const params = { progressToken, progress }
        await mcpReq.notify({ method: 'notifications/progress', params })
      }
      const frames = (request: ChatRequest) => chat.frames(request, caller, mcpReq.signal)
      return answer(() => askAgent(frames, question, report), log)
    },
  )
}

/** The client reads what this server foresaw; anything else is for the log. */
async function answer(work: () => Promise<string>, log: McpDependencies['log']) {
  const result = (text: string) => ({ content: [{ type: 'text' as const, text }] })
  try {
    return result(await work())
  } catch (error) {
    if (error instanceof AppError) return { ...result(error.message), isError: true }
    log.error({ err: error }, 'MCP tool failed')
    return { ...result('The tool failed for a reason that is in the log'), isError: true }
  }
}

/** Between two signs of life; clients give a call up that shows none. */
const PROGRESS_MS = 1_000

interface Question {
  question: string
  topK?: number | undefined
  mode?: SearchMode | undefined
  collection?: string | undefined
}

/** The agent's answer and, below it, the sources that its numbers stand for. Throws AppError where the run fails. */
export async function askAgent(
  frames: (request: ChatRequest) => AsyncIterable<ChatFrame[]>,
  { question, ...settings }: Question,
  report: (progress: number) => Promise<void>,
): Promise<string> {
  const messages = [{ role: 'user' as const, content: question }]
  let text = ''
  let reportedAt = performance.now()
  let progress = 0
  const request = { messages, ...settings, rewrite: false, includeSteps: true }
  for await (const batch of frames(request)) {
    for (const frame of batch) {
      text += textOf(frame)
      if (frame.type === 'done') return `${text}${sourcesOf(frame)}`
    }
    progress += batch.length
    if (performance.now() - reportedAt < PROGRESS_MS) continue
    reportedAt = performance.now()
    await report(progress)
  }
  throw new AppError('internal', 'The answer has no end')
}

function textOf(frame: ChatFrame): string {
  if (frame.type === 'text-delta') return frame.text
  if (frame.type !== 'approval-required') return ''
  const tools = frame.calls.map(({ tool }) => tool).join(', ')
  return `\n\nNot finished: ${tools} waits for approval, which is given over /chat.`
}

type DoneFrame = Extract<ChatFrame, { type: 'done' }>

function sourcesOf({ hits, artifacts = [] }: DoneFrame): string {
  const sources = hits.map((hit, index) => `[${index + 1}] ${sourceOf(hit)}`)
  const files = artifacts.map(({ name, mediaType, url }) => `${name} (${mediaType}): ${url}`)
  return [listOf('Sources', sources), listOf('Files', files)].join('')
}

interface Source {
  title?: string | undefined
  url?: string | undefined
  documentId: string
}

function sourceOf({ title, url, documentId }: Source): string {
  return [title, url, `document ${documentId}`].filter(Boolean).join(', ')
}

function listOf(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : `\n\n${title}:\n${lines.join('\n')}`
}

/** UTF-16 code units in one answer. */
const MAX_PIECE = 40_000

/** A piece of a document's text, from an offset as hits have them. Throws `document_not_found`. */
export async function readDocument(
  documents: Pick<Documents, 'text'>,
  { id, start }: { id: string; start: number },
  signal: AbortSignal,
): Promise<string> {
  const { title, url, text } = await documents.text(id, signal)
  const end = start + MAX_PIECE
  const more = end < text.length ? `\n[more: read on with start ${end}]` : ''
  return `${sourceOf({ title, url, documentId: id })}\n\n${text.slice(start, end)}${more}`
}
