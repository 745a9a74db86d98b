import { AppError } from '@agent-server/lib/errors.ts'
import type { Log } from '@agent-server/lib/log.ts'
import type { Caller, Scope } from '@agent-server/schemas/operator/api-key.ts'
import type { DialectServices } from '@agent-server/wire'
import {
  type AuthInfo,
  createMcpHandler,
  type McpRequestContext,
  McpServer,
} from '@modelcontextprotocol/server'
import { addAgentTool } from './ask-tool.ts'
import { addChangeTools } from './change-tools.ts'
import { addCompletion } from './completion.ts'
import { addCorpusTools, type Guard, type ToolAnswer } from './corpus-tools.ts'
import { addDocumentResources } from './document-resources.ts'
import type { Corpus, RecordChange, Skill } from './services.ts'
import { addSkillPrompts } from './skill-prompts.ts'

const INSTRUCTIONS =
  'A collection of documents. Use `query` to find passages, `get_document` to read more of a document, and `ask` to have the server’s agent answer a question with citations.'

export interface McpDependencies extends Pick<DialectServices, 'agent' | 'dialects'> {
  /** The corpus restricted to what a caller may see. */
  corpusFor: (caller: Caller) => Corpus
  /** The skills of the agent that answers at the moment. */
  skills: () => readonly Skill[]
  recordChange: RecordChange
  version: string
  log: Pick<Log, 'warn' | 'error'>
}

/** Who sends a request, and from where. */
interface Sender {
  caller: Caller
  address: string
}

/** The corpus and the agent as an MCP server for clients of both eras of the protocol; stateless between requests. */
export function createHandler(dependencies: McpDependencies) {
  const { log } = dependencies
  const senders = new WeakMap<object, Sender>()
  const build = ({ authInfo = NOBODY, era }: McpRequestContext) => {
    const sender = senders.get(authInfo)
    if (!sender) throw new Error('An MCP request without a caller')
    return createServer(dependencies, sender, era)
  }
  const handler = createMcpHandler(build, {
    maxSubscriptions: Number.POSITIVE_INFINITY,
    // Failures of the exchange, which are the client's; failures of tools are logged by `answer`.
    onerror: ({ name, message }) => log.warn({ name }, `MCP request failed: ${message}`),
  })
  return {
    fetch(request: Request, parsedBody: unknown, sender: Sender): Promise<Response> {
      const { key, scopes } = sender.caller
      const authInfo = { token: '', clientId: key?.id ?? '', scopes: [...scopes] }
      senders.set(authInfo, sender)
      return handler.fetch(request, { parsedBody, authInfo })
    },
    /** Tells who listens that the agent has other skills, or that there are other agents. */
    agentChanged(): void {
      handler.notify.promptsChanged()
      handler.notify.toolsChanged()
    },
    close: () => handler.close(),
  }
}

const NOBODY: AuthInfo = { token: '', clientId: '', scopes: [] }

/** A server with the tools, resources and prompts that the caller may use. */
function createServer(
  dependencies: McpDependencies,
  { caller, address }: Sender,
  era: McpRequestContext['era'],
): McpServer {
  const { version, corpusFor, skills, recordChange, log } = dependencies
  const may = (scope: Scope) => caller.scopes.includes(scope)
  const guarded: Guard = (work) => answer(work, log)
  const corpus = corpusFor(caller)
  const server = new McpServer(
    { name: 'agent-server', version },
    { instructions: INSTRUCTIONS, capabilities: capabilitiesFor(caller, era) },
  )
  if (may('query')) {
    addCorpusTools(server, corpus, guarded)
    addDocumentResources(server, corpus.documents, log)
  }
  if (may('chat')) {
    addAgentTool(server, dependencies, caller, guarded)
    addSkillPrompts(server, skills)
  }
  if (may('ingest')) addChangeTools(server, { corpus, caller, address, recordChange }, guarded)
  addCompletion(server, {
    skills: may('chat') ? skills : () => [],
    corpus: may('query') ? corpus : undefined,
    log,
  })
  return server
}

function capabilitiesFor({ scopes }: Caller, era: McpRequestContext['era']) {
  // Older clients would listen on a session, which there is not.
  const listChanged = era === 'modern'
  return {
    tools: { listChanged },
    completions: {},
    ...(scopes.includes('query') && { resources: { listChanged: false } }),
    ...(scopes.includes('chat') && { prompts: { listChanged } }),
  }
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
