import { z } from 'zod'
import { ANALYSER_LANGUAGES } from './indexes/analyser/languages.ts'
import { MEMORY_PLACEMENTS, QUANTISATIONS } from './indexes/qdrant-settings.ts'
import { isOrigin, isPublicOrigin } from './lib/origins.ts'
import { areOutboundEntries } from './lib/outbound/policy.ts'
import { areProxies } from './lib/trusted-proxies.ts'
import { areFolders, toFolder } from './schemas/operator/watch.ts'
import {
  choicesOf,
  type Description,
  descriptionOf,
  group,
  httpUrl,
  httpUrls,
  KEY,
  list,
  name,
  number,
  oneOf,
  onOrOff,
  rangeOf,
  upstreamKey,
} from './variable-types.ts'

const MIN_KEY_LENGTH = 16
/** How placeholder keys in documentation begin, ours or anyone else's. */
const EXAMPLE_KEY = /^(?:change|replace|your|my|example)[-_]/i

const server = group('Server')
const chat = group('Chat model')
const knowledge = group('Knowledge')
const embeddings = group('Embeddings')
const reranking = group('Reranking')
const qdrant = group('Qdrant')
const sandbox = group('Sandbox')

/** Every variable: its type, its default as the environment would hold it, its group and its meaning. */
export const Variables = z.object({
  SERVER_API_KEY: server(
    z
      .string({ error: 'is required: the key that every request must present' })
      .min(MIN_KEY_LENGTH, `must have at least ${MIN_KEY_LENGTH} characters`)
      .regex(...KEY)
      .refine((key) => !EXAMPLE_KEY.test(key), 'must be a key of your own: that one is an example'),
    'Key that every request sends as `Authorization: Bearer <key>`. At least 16 characters.',
    { isCommon: true, example: '' },
  ),
  HOST: server(
    z.string().default('127.0.0.1'),
    'Address to listen on. `0.0.0.0` listens on all interfaces, as the container image does.',
  ),
  PORT: server(number(0, 65_535).prefault('3000'), 'Port to listen on.', { isCommon: true }),
  DATA_DIR: server(
    z.string().default('./data'),
    'Directory of the database and the search index. Each server needs its own. With DATABASE_URL it holds nothing worth keeping.',
    { isCommon: true },
  ),
  DATABASE_URL: server(
    z
      .url({
        protocol: /^postgres(ql)?$/,
        hostname: /./,
        error: 'must be a URL like postgres://user:password@host:5432/database',
      })
      .optional(),
    'PostgreSQL database to use instead of the one in DATA_DIR: `postgres://user:password@host/database`. Any number of servers can share it. Requires QDRANT_URL. See docs/guides/scaling.md.',
    { isCommon: true },
  ),
  DATABASE_POOL: server(
    number(2, 1_000).prefault('10'),
    'PostgreSQL connections that this server may open, besides one that waits for notifications.',
  ),
  SERVER_MODE: server(
    oneOf(['agent', 'knowledge']).default('agent'),
    '`agent` turns everything on. `knowledge` offers documents, search and grounded chat, without tools, skills, MCP and sandbox.',
  ),
  FAILED_START: server(
    oneOf(['exit', 'web-ui']).optional(),
    'What to do if a mistake in the setup prevents a start: `web-ui` shows it in the browser, `exit` ends the process with code 1. Not set: `exit` if NODE_ENV is `production`, as in the container image, otherwise `web-ui`.',
  ),
  UI: server(onOrOff(), 'Whether to serve the web UI at `/`. See docs/guides/web-ui.md.'),
  CORS_ORIGIN: server(
    list(
      (origins) => origins.every(isOrigin),
      'must be origins like https://example.org, separated by commas, or *',
    ),
    'Origins whose pages may call the API from a browser, separated by commas, or `*` for all. Not set: none.',
  ),
  PUBLIC_URL: server(
    z.string().refine(isPublicOrigin, 'must be like https://agent.example.org').optional(),
    'Address at which others reach the server, without a path, so that MCP clients can sign in at `/mcp` (OAuth). Not set: only from this machine. See docs/guides/mcp.md.',
  ),
  TRUST_PROXY: server(
    list(
      areProxies,
      'must be the number of proxies in front, 1 to 10, or their addresses and ranges like 10.0.0.0/8, separated by commas',
    ).transform((entries) => Number(entries?.[0]) || entries),
    "Proxies in front of the server that it trusts to report the caller's address and HTTPS: how many there are (1 to 10), or their addresses and ranges, separated by commas. Not set: none. See docs/guides/operations.md.",
  ),
  OUTBOUND_ALLOW: server(
    list(
      areOutboundEntries,
      'must be host names, addresses or ranges like 10.0.0.0/8, separated by commas',
    ),
    'Hosts, addresses and ranges that the server may call although they are not public, separated by commas: `localhost, hooks.internal, 10.1.0.0/16`. Models need no entry. Not set: public addresses only. See docs/guides/operations.md.',
  ),
  FETCH_URLS: server(
    onOrOff(),
    'Whether documents may be fetched from web addresses. See docs/guides/ingestion.md.',
  ),
  FETCH_IGNORE_ROBOTS: server(
    list(areOutboundEntries, 'must be host names, separated by commas'),
    'Your own hosts whose robots.txt is ignored, separated by commas. Not set: every robots.txt is obeyed.',
  ),
  WATCH_FOLDERS: server(
    list(
      areFolders,
      'must be at most 16 folders such as ./inbox or handbook=/srv/handbook, separated by commas, none within another',
    ).transform((entries) => entries?.map(toFolder)),
    'Folders whose files the server keeps as documents, separated by commas: `./inbox, handbook=/srv/handbook` puts those of the second into the collection `handbook`. See docs/guides/ingestion.md.',
  ),
  WEBHOOK_URL: server(
    httpUrl.optional(),
    'URL that receives a signed message whenever a document becomes ready or fails. Not set: no messages are sent. See docs/guides/ingestion.md.',
  ),
  WEBHOOK_SECRET: server(
    z
      .string()
      .regex(/^whsec_[A-Za-z0-9+/]{32,86}={0,2}$/, {
        error: 'must be whsec_ and then 24 to 64 bytes in base64',
      })
      .optional(),
    'Signs these messages: `whsec_` followed by 24 to 64 bytes in base64. Required with WEBHOOK_URL.',
  ),
  LOG_LEVEL: server(
    oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
    'Least severe level to log. The OTEL_* variables of OpenTelemetry send logs, traces and metrics elsewhere as well. See docs/guides/operations.md.',
  ),
  BODY_LIMIT: server(
    number(1_000, 1_000_000_000).prefault('10000000'),
    'Largest request body, in bytes.',
  ),
  FILE_LIMIT: server(
    number(1_000, 1_000_000_000).prefault('200000000'),
    'Largest file that can be uploaded as a document, in bytes.',
  ),
  SHUTDOWN_GRACE: server(
    number(0, 600).prefault('10'),
    'Seconds that open streams have to finish when the server stops.',
  ),
  AGENT_CONFIG: server(
    z.string().default('./agent.json'),
    "File with the agent's name, prompt and tools. It may be absent. See docs/reference/agent-configuration.md.",
  ),
  CHAT_MODEL: chat(
    z.string().max(256).default('gpt-5-mini'),
    'Model that writes the answers, by its name at CHAT_BASE_URL. `extractive` quotes the best sentences of your documents instead, without a model, a key or a network.',
    { isCommon: true, example: 'extractive' },
  ),
  CHAT_API_KEY: chat(
    upstreamKey(),
    'Key for the chat model. Required unless CHAT_MODEL is `extractive`; use any value for a server that needs no key.',
    { isCommon: true },
  ),
  CHAT_BASE_URL: chat(
    httpUrl.default('https://api.openai.com/v1'),
    'Any server with OpenAI-compatible chat completions: OpenAI, Ollama, vLLM, LM Studio, OpenRouter …',
    { isCommon: true },
  ),
  CHAT_CONTEXT_TOKENS: chat(
    number(1_000, 10_000_000).prefault('32768'),
    'Context window of the model, in tokens. Older messages are dropped to fit.',
  ),
  CHAT_IDLE_TIMEOUT: chat(
    number(1, 3_600).prefault('120'),
    'Seconds of silence after which the server gives up on the model.',
  ),
  CHAT_CONCURRENCY: chat(
    number(1, 100_000).prefault('2000'),
    'Chats in progress at the same time. Further ones are answered with 429.',
  ),
  RUNS_KEPT: chat(
    number(0, 200).prefault('50'),
    'How many of the last runs each server keeps in memory, with prompts and tool calls, for `GET /admin/runs`: at most 2 MB each. 0 keeps none.',
  ),
  TOP_K: knowledge(
    number(1, 100).prefault('5'),
    'Number of chunks that chat retrieves by default.',
  ),
  OCR: knowledge(
    oneOf(['on', 'pp-ocr', 'off']).default('on'),
    'Whether to recognise text in images and scanned pages: `on` uses Tesseract; `pp-ocr` reads more and has to be installed. See docs/guides/files.md.',
  ),
  OCR_LANGUAGES: knowledge(
    z
      .string()
      .regex(
        /^[a-zA-Z_]{3,20}(?:[ ,+][a-zA-Z_]{3,20}){0,7}$/,
        'must be languages such as eng or deu+fra',
      )
      .default('eng'),
    'Languages to recognise, such as `eng+deu`. Every language except English needs its package: `npm install @tesseract.js-data/deu`.',
  ),
  SEARCH_LANGUAGE: knowledge(
    oneOf(ANALYSER_LANGUAGES).default('english'),
    'Language of your documents, for stemming and stop words; `none` uses neither. After a change, the next start rebuilds the search index.',
    { isCommon: true },
  ),
  CHUNK_CONTEXT: knowledge(
    oneOf(['off', 'chat']).default('off'),
    '`chat` lets the chat model write one or two sentences for each passage, by which it is found as well. It takes a call per passage, in the background. See docs/guides/models.md.',
  ),
  INGEST_CONCURRENCY: knowledge(
    number(1, 512).prefault('128'),
    'Documents that are processed at the same time.',
  ),
  INGEST_QUEUE_LIMIT: knowledge(
    number(1, 10_000_000).prefault('10000'),
    'Documents that may wait to be processed. Further ones are answered with 429.',
  ),
  EMBEDDING_MODEL: embeddings(
    name(),
    'Model for vector search: `builtin` (English, included), `builtin-multilingual` (about a hundred languages, to be installed), `none` (keywords only), or one at EMBEDDING_BASE_URL. Not set: `builtin` if SEARCH_LANGUAGE is `english`, otherwise `builtin-multilingual` if it is installed. To change it later, see docs/guides/operations.md.',
    { isCommon: true },
  ),
  EMBEDDING_BASE_URL: embeddings(
    httpUrl.optional(),
    'Any server with OpenAI-compatible embeddings: Ollama, vLLM, TEI, LM Studio … Not set: CHAT_BASE_URL.',
  ),
  EMBEDDING_API_KEY: embeddings(
    upstreamKey(),
    'Key for the embedding model; use any value for a server that needs no key. Not set: CHAT_API_KEY.',
  ),
  EMBEDDING_MODEL_NEXT: embeddings(
    name(),
    'Embedding model to change to. Its vectors are made while the server still uses the current ones. See docs/guides/operations.md.',
  ),
  EMBEDDING_BASE_URL_NEXT: embeddings(
    httpUrl.optional(),
    'Server of the next embedding model. Not set: EMBEDDING_BASE_URL.',
  ),
  EMBEDDING_API_KEY_NEXT: embeddings(
    upstreamKey(),
    'Key for the next embedding model. Not set: EMBEDDING_API_KEY.',
  ),
  RERANK_MODEL: reranking(
    name(),
    'Model that reorders the best hits of every search; `chat` is the chat model. Not set: none. See docs/guides/models.md.',
  ),
  RERANK_BASE_URL: reranking(
    httpUrl.optional(),
    'Any server with `/rerank`: Cohere, Jina, Voyage, vLLM, TEI … Not set: EMBEDDING_BASE_URL, then CHAT_BASE_URL.',
  ),
  RERANK_API_KEY: reranking(
    upstreamKey(),
    'Key for the reranking model; use any value for a server that needs no key. Not set: EMBEDDING_API_KEY, then CHAT_API_KEY.',
  ),
  QDRANT_URL: qdrant(
    httpUrls.optional(),
    'Qdrant instance that holds the search index, or several nodes of one cluster, separated by commas. Any number of servers can share it. Not set: the index is kept in DATA_DIR. See docs/guides/scaling.md.',
    { isCommon: true },
  ),
  QDRANT_API_KEY: qdrant(upstreamKey(), 'API key for Qdrant.'),
  QDRANT_COLLECTION: qdrant(
    z
      .string()
      .regex(/^[\w-]{1,64}$/, 'must be at most 64 letters, digits, _ or -')
      .default('agent-server'),
    "Prefix of the names of this server's collections.",
  ),
  QDRANT_TIMEOUT: qdrant(number(1, 300).prefault('10'), 'Seconds that a search waits for Qdrant.'),
  QDRANT_SHARDS: qdrant(
    number(1, 1_000).prefault('1'),
    'Shards of each collection, which are spread over the nodes. Applied when a collection is created: after a change, run `npm run rebuild-index`.',
  ),
  QDRANT_REPLICAS: qdrant(
    number(1, 16).prefault('1'),
    'Replicas of each shard. Applied when a collection is created.',
  ),
  QDRANT_WRITE_CONSISTENCY: qdrant(
    number(1, 16).prefault('1'),
    'Replicas that must confirm a write. With more than 1, nothing is ingested while a node is down.',
  ),
  QDRANT_QUANTIZATION: qdrant(
    oneOf(QUANTISATIONS).default('int8'),
    'Quantization of the vectors that are searched. Applied when a collection is created.',
  ),
  QDRANT_VECTORS_MEMORY: qdrant(
    oneOf(MEMORY_PLACEMENTS).default('cold'),
    'Where the original vectors are kept: `cold` on disk, `cached` or `pinned` in memory. Applied when a collection is created.',
  ),
  QDRANT_TERMS_MEMORY: qdrant(
    oneOf(MEMORY_PLACEMENTS).default('cached'),
    'Where the postings of terms are kept, likewise. Applied when a collection is created.',
  ),
  QDRANT_FILTERS_MEMORY: qdrant(
    oneOf(MEMORY_PLACEMENTS).default('cached'),
    'Where the metadata indexes are kept, likewise. Applied when a collection is created.',
  ),
  DOCKER_HOST: sandbox(
    z.string().max(1_000).optional(),
    'Container engine of the `docker` sandbox: `unix:///path` or `tcp://host:port`. Not set: `/var/run/docker.sock`. See docs/guides/sandboxes.md.',
  ),
  E2B_API_KEY: sandbox(
    upstreamKey(),
    'Key for running code at E2B, which charges by the second. See docs/guides/sandboxes.md.',
  ),
  E2B_API_URL: sandbox(
    httpUrl.optional(),
    'Your own installation of E2B. Not set: `https://api.e2b.app`.',
  ),
})

export interface Variable extends Description {
  name: string
  /** The values to choose from; empty if there are others. */
  choices: readonly string[]
  /** The choices or the range in words; empty if neither is known. */
  values: string
  /** As the environment would hold it; undefined if there is none. */
  default: string | undefined
}

/** Every variable as people read of it, in the order of their groups. */
export const VARIABLES: readonly Variable[] = Object.entries(Variables.shape).map(
  ([variable, schema]) => {
    const { data } = schema.safeParse(undefined)
    return {
      ...descriptionOf(schema),
      name: variable,
      choices: choicesOf(schema),
      values: choicesOf(schema).join(', ') || rangeOf(schema),
      default: data === undefined ? undefined : String(data),
    }
  },
)
