import { Admin } from './admin.ts'
import { Agent, Artifacts } from './agent.ts'
import type { Call } from './call.ts'
import { ChatStream, openChat } from './chat-stream.ts'
import type { ChatRequest, OwnUsage, QueryRequest, QueryResult } from './contract.ts'
import { Conversations } from './conversations.ts'
import { Documents } from './documents.ts'
import { Evaluation } from './evaluation.ts'
import { AnswerFeedback } from './feedback.ts'
import { type Fetch, type RequestOptions, Transport } from './transport.ts'

export type { Call, Outcome, Page, Pages } from './call.ts'
export type { ChatEvent, ChatListeners, ChatResult } from './chat-stream.ts'
export type * from './contract.ts'
export type {
  CreateOptions,
  DeleteOptions,
  DocumentSelection,
  ListOptions,
  TextOptions,
  UploadOptions,
  WaitOptions,
} from './documents.ts'
// biome-ignore lint/performance/noBarrelFile: the one entry of the package
export * from './errors.ts'
export type { Fetch, RequestOptions } from './transport.ts'
export type { SmallFile, UploadSource } from './upload.ts'

export { ChatStream }

const LOCAL_URL = 'http://127.0.0.1:3000'
/** In a stream the server sends a sign of life every 15 seconds; otherwise it holds a response back for 60 at most. */
const TIMEOUT_MS = 120_000
const MAX_RETRIES = 2

export interface AgentServerOptions {
  /** The URL of the server, with any path prefix of a proxy. Default: `AGENT_SERVER_URL`, or this machine. */
  baseURL?: string | undefined
  /** The server's key. Default: `AGENT_SERVER_KEY`. Null sends none, if something else authorises requests. */
  apiKey?: string | null | undefined
  /** Idle timeout in milliseconds: an attempt ends when the server is silent for so long. Default: two minutes. */
  timeout?: number | undefined
  /** How often a transient failure is retried. Default: twice. */
  maxRetries?: number | undefined
  /** Used instead of the global `fetch`. */
  fetch?: Fetch | undefined
  defaultHeaders?: Record<string, string> | undefined
  /**
   * Whether the console shows, once each, what the server says of requests that it took, such as the name of a field
   * that it does not know. Default: true, unless NODE_ENV is `production`.
   */
  warnings?: boolean | undefined
}

/** Client of an Agent Server: its documents, its retrieval, its agent. */
export class AgentServer {
  readonly baseURL: string
  readonly documents: Documents
  readonly conversations: Conversations
  readonly feedback: AnswerFeedback
  readonly evaluation: Evaluation
  readonly agent: Agent
  readonly artifacts: Artifacts
  readonly admin: Admin
  readonly #transport: Transport

  /** Throws a TypeError if the URL or the key is missing or malformed. */
  constructor(options: AgentServerOptions = {}) {
    this.baseURL = toBaseURL(options.baseURL ?? variable('AGENT_SERVER_URL') ?? LOCAL_URL)
    const apiKey = options.apiKey === undefined ? variable('AGENT_SERVER_KEY') : options.apiKey
    if (apiKey === undefined || apiKey === '') {
      throw new TypeError('There is no key: set `apiKey` or the variable AGENT_SERVER_KEY')
    }
    if (apiKey !== null && !/^[\x21-\x7e]+$/.test(apiKey)) {
      throw new TypeError(
        'This is not a valid key: it has a space, a line break or a character outside ASCII. Copy it again',
      )
    }
    this.#transport = new Transport({
      baseURL: this.baseURL,
      apiKey,
      timeout: options.timeout ?? TIMEOUT_MS,
      maxRetries: options.maxRetries ?? MAX_RETRIES,
      fetch: options.fetch ?? ((url, init) => globalThis.fetch(url, init)),
      defaultHeaders: options.defaultHeaders ?? {},
      warnings: options.warnings ?? variable('NODE_ENV') !== 'production',
    })
    this.documents = new Documents(this.#transport)
    this.conversations = new Conversations(this.#transport)
    this.feedback = new AnswerFeedback(this.#transport)
    this.evaluation = new Evaluation(this.#transport)
    this.agent = new Agent(this.#transport)
    this.artifacts = new Artifacts(this.#transport)
    this.admin = new Admin(this.#transport)
  }

  /** Finds the passages that answer a question, best first. */
  query(request: string | QueryRequest, options?: RequestOptions): Call<QueryResult> {
    const json: QueryRequest = typeof request === 'string' ? { query: request } : request
    return this.#transport.json({ method: 'POST', path: '/query', json }, options)
  }

  /** What whoever asks has used of models in the last 30 days, and what is left for today. */
  usage(options?: RequestOptions): Call<OwnUsage> {
    return this.#transport.json({ method: 'GET', path: '/usage' }, options)
  }

  /** Asks the agent a question or, in a request, with all that came before; the answer is streamed as it is generated. */
  chat(request: string | ChatRequest, options?: RequestOptions): ChatStream {
    const json: ChatRequest =
      typeof request === 'string' ? { messages: [{ role: 'user', content: request }] } : request
    return openChat(this.#transport, { method: 'POST', path: '/chat', json }, options)
  }
}

/** The URL without trailing slashes, query and fragment. */
function toBaseURL(text: string): string {
  if (!URL.canParse(text))
    throw new TypeError('baseURL must be a URL, such as http://127.0.0.1:3000')
  const { protocol, username, password, origin, pathname } = new URL(text)
  if (protocol !== 'http:' && protocol !== 'https:') {
    throw new TypeError('baseURL must begin with http:// or https://')
  }
  if (username || password) throw new TypeError('baseURL must not hold a name or a password')
  return `${origin}${pathname}`.replace(/(?<!\/)\/+$/, '')
}

/** An environment variable, where there is an environment; an empty one counts as not set. */
function variable(name: string): string | undefined {
  const { process }: { process?: { env?: Record<string, string | undefined> } } = globalThis
  return process?.env?.[name] || undefined
}
