import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Document, DocumentCreated } from '@agent-server/schemas/document.ts'
import type { Metadata } from '@agent-server/schemas/metadata.ts'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import { buildApp } from '../../src/app.ts'
import { compose, openActivity } from '../../src/compose/compose.ts'
import { openWebUi } from '../../src/compose/web-ui.ts'
import { loadConfig } from '../../src/config.ts'
import { closeAfterUse } from './close-after-use.ts'
import { ROOT } from './source-tree.ts'

export const TEST_KEY = 'a-key-for-tests-only'
export const MODEL_KEY = 'sk-key-of-the-chat-model'

const WEB_UI_SOURCES = fileURLToPath(new URL('ui', ROOT))

const INGESTION_MS = 50_000
const POLL_MS = 5

export interface TestServer {
  url: string
  /** `fetch` with the key and, where there is a body, as JSON. */
  request(path: string, options?: RequestOptions): Promise<Response>
  /** Ingests a document and waits until it is ready; answers its id. */
  ingest(document: {
    text: string
    title?: string
    url?: string
    metadata?: Metadata
    collection?: string
    access?: readonly string[]
  }): Promise<string>
  /** May be called more than once. */
  close(): Promise<void>
}

/** A server within the process of the test. */
export interface StartedServer extends TestServer {
  /** What `begin: false` left out. */
  begin(): Promise<void>
}

export interface RequestOptions {
  method?: string
  body?: unknown
  headers?: Record<string, string>
  signal?: AbortSignal
}

export interface StartOptions {
  /** Sees the application before it listens: for time limits that no test can wait for. */
  beforeListen?: (app: FastifyInstance) => void
  /** False leaves the server as it is while it brings its index up to date after a start. */
  begin?: boolean
  /** Other sources of the web UI than `ui/`. */
  webUiSources?: string
  /** What the environment itself sets, and cannot be changed over HTTP; everything without it. */
  given?: Record<string, string>
  /** What a restart does; nothing without it. */
  restart?: () => void
}

/** The protocol that `npm run test:model` has the suites ask the model in. */
const { TEST_CHAT_API } = process.env

/** What llama-server tells and takes in chat completions alone: timings, sampling, the end at a limit, schemas. */
export const isChatCompletions = (TEST_CHAT_API ?? 'chat-completions') === 'chat-completions'

/** The environment of a server whose chat model is at an address. */
export function modelAt(
  { url }: { url: string },
  more: Record<string, string> = {},
): Record<string, string> {
  const api = TEST_CHAT_API === undefined ? {} : { CHAT_API: TEST_CHAT_API }
  return { CHAT_BASE_URL: url, CHAT_API_KEY: MODEL_KEY, CHAT_MODEL: 'scripted', ...api, ...more }
}

/**
 * A whole server on a free port of the loopback and in a directory of its own, unless `DATA_DIR` names one.
 * Closes itself, but in a hook: there, call `close`.
 */
export async function startServer(
  environment: Record<string, string> = {},
  {
    beforeListen,
    begin = true,
    webUiSources = WEB_UI_SOURCES,
    given,
    restart = () => undefined,
  }: StartOptions = {},
): Promise<StartedServer> {
  const own = environment.DATA_DIR === undefined
  const directory = environment.DATA_DIR ?? join(tmpdir(), `agent-server-${randomUUID()}`)
  const variables = {
    SERVER_API_KEY: TEST_KEY,
    CHAT_MODEL: 'extractive',
    EMBEDDING_MODEL: 'none',
    AGENT_CONFIG: join(directory, 'agent.json'),
    DATA_DIR: directory,
    PORT: '0',
    SHUTDOWN_GRACE: '1',
    LOG_LEVEL: 'silent',
    ...environment,
  }
  const config = loadConfig(variables)
  const log = pino({ level: config.LOG_LEVEL })
  const onFatal = (error: Error) => {
    throw error
  }
  const composition = await compose(config, log, onFatal, {
    environment: variables,
    given: { variables: given ?? variables, file: join(directory, '.env') },
    activity: openActivity(),
    signal: new AbortController().signal,
    restart,
  })
  const webUi = await openWebUi(config, webUiSources, log)
  const app = await buildApp(composition.services, {
    log,
    webUi,
    version: '0.0.0',
    bodyLimit: config.BODY_LIMIT,
    serverApiKey: config.SERVER_API_KEY,
    corsOrigin: config.CORS_ORIGIN,
    publicUrl: config.PUBLIC_URL,
    outboundAllow: config.OUTBOUND_ALLOW,
    trustProxy: config.TRUST_PROXY,
    shutdownGraceMs: config.SHUTDOWN_GRACE * 1_000,
  })
  beforeListen?.(app)
  const url = await app.listen({ host: config.HOST, port: config.PORT })
  if (begin) await composition.start()

  const running = letGoAfter({
    begin: composition.start,
    async close() {
      await app.close()
      await composition.close()
      if (own) await rm(directory, { recursive: true, force: true })
    },
  })
  closeAfterUse(running.close)
  const request = requester(url, config.SERVER_API_KEY)
  return { url, request, ingest: ingester(request), ...running }
}

/** Test files stay loaded, and with them the servers that they name: one that is closed holds nothing any more. */
function letGoAfter(running: Pick<StartedServer, 'begin' | 'close'>): typeof running {
  let open: typeof running | undefined = running
  let closed: Promise<void> | undefined
  return {
    begin: async () => open?.begin(),
    close() {
      closed ??= open?.close() ?? Promise.resolve()
      open = undefined
      return closed
    },
  }
}

/** `fetch` with a key, and where there is a body, as JSON. */
export function requester(url: string, key: string): TestServer['request'] {
  return (path, { method, body, headers, signal } = {}) =>
    fetch(`${url}${path}`, {
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      headers: {
        authorization: `Bearer ${key}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      ...(signal && { signal }),
    })
}

/** Ingests a document through `request`, and waits until it is ready; answers its id. */
export function ingester(request: TestServer['request']): TestServer['ingest'] {
  return async (document) => {
    const path = `/documents?wait=${INGESTION_MS / 1_000}&for=embeddings`
    const response = await request(path, { body: document })
    const { id, ...state } = DocumentCreated.parse(await response.json())
    if (response.status === 200 && state.status === 'ready') return id
    throw new Error(`Ingestion failed: ${JSON.stringify(state)}`)
  }
}

/** The document once it is `ready`, and found by meaning where there is an embedder, or `failed`. */
export async function settledDocument(
  request: TestServer['request'],
  id: string,
): Promise<Document> {
  const deadline = Date.now() + INGESTION_MS
  while (Date.now() < deadline) {
    const document = Document.parse(await (await request(`/documents/${id}`)).json())
    if (document.status === 'failed') return document
    if (document.status === 'ready' && !document.embeddings?.missing) return document
    await pause(POLL_MS)
  }
  throw new Error('The document was not ingested in time')
}
