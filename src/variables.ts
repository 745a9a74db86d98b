import type { FormerNames } from '@agent-server/lib/former-names.ts'
import { isIssuer, isOrigin, isPublicOrigin } from '@agent-server/lib/origins.ts'
import { areOutboundEntries } from '@agent-server/lib/outbound/policy.ts'
import { areProxies } from '@agent-server/lib/trusted-proxies.ts'
import {
  choicesOf,
  type Description,
  descriptionOf,
  group,
  httpUrl,
  KEY,
  list,
  name,
  number,
  oneOf,
  onOrOff,
  rangeOf,
  upstreamKey,
} from '@agent-server/lib/variable-types.ts'
import { CitationCheck } from '@agent-server/schemas/citation.ts'
import { areFolders, BETWEEN_FOLDERS, toFolder } from '@agent-server/schemas/operator/watch.ts'
import { ANALYSER_LANGUAGES } from '@agent-server/search'
import { z } from 'zod'
import { FEATURE_VARIABLES, SHARED_INDEXES } from './features.ts'

/** Names that variables had in earlier versions: docs/reference/stability.md says for how long they work. */
export const FORMER_VARIABLES: FormerNames = {}

const MIN_KEY_LENGTH = 16
/** How placeholder keys in documentation begin, ours or anyone else's. */
const EXAMPLE_KEY = /^(?:change|replace|your|my|example)[-_]/i

const server = group('Server')
const chat = group('Chat model')
const knowledge = group('Knowledge')
const embeddings = group('Embeddings')
const reranking = group('Reranking')
const people = group('People')

/** Every variable: its type, its default as the environment would hold it, its group and its meaning. */
export const Variables = z.object({
  SERVER_API_KEY: server(
    z
      .string({ error: 'is required: the key that every request must present' })
      .min(MIN_KEY_LENGTH, `must have at least ${MIN_KEY_LENGTH} characters`)
      .regex(...KEY)
      .refine((key) => !EXAMPLE_KEY.test(key), 'must be a key of your own: that one is an example'),
    'Key that every request sends as `Authorization: Bearer <key>`, of at least 16 characters.',
    { isCommon: true, example: '' },
  ),
  HOST: server(
    z.string().default('127.0.0.1'),
    'Address to listen on; `0.0.0.0` is all interfaces, as in the image.',
  ),
  PORT: server(number(0, 65_535).prefault('3000'), 'Port to listen on.', { isCommon: true }),
  DATA_DIR: server(
    z.string().default('./data'),
    'Directory of the database and the search index; each server needs its own.',
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
    `PostgreSQL database instead of the one in DATA_DIR, which servers can share: \`postgres://user:password@host/database\`. Requires ${SHARED_INDEXES.map(({ address }) => address).join(' or ')}. See docs/guides/scaling.md.`,
    { isCommon: true },
  ),
  DATABASE_POOL: server(
    number(2, 1_000).prefault('10'),
    'PostgreSQL connections of this server, besides one that waits for notifications.',
  ),
  BACKUP_BEFORE_UPGRADE: server(
    oneOf(['try', 'require', 'off']).default('try'),
    'Copy of the database in DATA_DIR before a new version migrates it: `try` makes one if the disk has room, `require` does not start without one (with PostgreSQL: before you have made one), `off` makes none. See docs/guides/operations.md.',
  ),
  SERVER_MODE: server(
    oneOf(['agent', 'knowledge']).default('agent'),
    '`knowledge` offers documents, search and cited answers, without tools, skills, MCP and sandbox.',
  ),
  FAILED_START: server(
    oneOf(['exit', 'web-ui']).optional(),
    'What follows a mistake in the setup: `web-ui` shows it in the browser, `exit` ends the process with code 1. Not set: `exit` if NODE_ENV is `production`, otherwise `web-ui`.',
  ),
  UI: server(onOrOff(), 'Whether to serve the web UI at `/`. See docs/guides/web-ui.md.'),
  CORS_ORIGIN: server(
    list(
      (origins) => origins.every(isOrigin),
      'must be origins like https://example.org, separated by commas, or *',
    ),
    'Origins whose pages may call the API, separated by commas, or `*` for all. Not set: none.',
  ),
  PUBLIC_URL: server(
    z.string().refine(isPublicOrigin, 'must be like https://agent.example.org').optional(),
    'Address at which others reach the server, without a path, so that MCP clients can sign in. Not set: only those on this machine can. See docs/guides/mcp.md.',
  ),
  TRUST_PROXY: server(
    list(
      areProxies,
      'must be the number of proxies in front, 1 to 10, or their addresses and ranges like 10.0.0.0/8, separated by commas',
    ).transform((entries) => Number(entries?.[0]) || entries),
    "Proxies that may report the caller's address and HTTPS: how many there are (1 to 10), or their addresses and ranges, separated by commas. Not set: none. See docs/guides/operations.md.",
  ),
  OUTBOUND_ALLOW: server(
    list(
      areOutboundEntries,
      'must be host names, addresses or ranges like 10.0.0.0/8, separated by commas',
    ),
    'Hosts, addresses and ranges that may be called although they are not public: `localhost, hooks.internal, 10.1.0.0/16`. Models need no entry. See docs/guides/operations.md.',
  ),
  FETCH_URLS: server(
    onOrOff(),
    'Whether documents may be fetched from the web. See docs/guides/ingestion.md.',
  ),
  FETCH_IGNORE_ROBOTS: server(
    list(areOutboundEntries, 'must be host names, separated by commas'),
    'Your own hosts whose robots.txt is ignored, separated by commas.',
  ),
  WATCH_FOLDERS: server(
    list(
      areFolders,
      'must be at most 16 folders such as ./inbox or handbook=/srv/handbook <group:hr|user:ada>, separated by commas, none within another',
      BETWEEN_FOLDERS,
    ).transform((entries) => entries?.map(toFolder)),
    'Folders whose files are kept as documents; `./inbox, handbook=/srv/handbook` puts those of the second into the collection `handbook`, and `<group:hr|user:ada>` after a path says who may read them. See docs/guides/ingestion.md.',
  ),
  WEBHOOK_URL: server(
    httpUrl.optional(),
    'URL that receives a signed message whenever a document becomes ready or fails. See docs/guides/ingestion.md.',
  ),
  WEBHOOK_SECRET: server(
    z
      .string()
      .regex(/^whsec_[A-Za-z0-9+/]{32,86}={0,2}$/, {
        error: 'must be whsec_ and then 24 to 64 bytes in base64',
      })
      .optional(),
    'Signs these messages: `whsec_` and 24 to 64 bytes in base64. Required with WEBHOOK_URL.',
  ),
  LOG_LEVEL: server(
    oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
    'Least severe level to log. OTEL_* variables send logs elsewhere as well. See docs/guides/operations.md.',
  ),
  BODY_LIMIT: server(
    number(1_000, 1_000_000_000).prefault('10000000'),
    'Largest request body, in bytes.',
  ),
  FILE_LIMIT: server(number(1_000, 1_000_000_000).prefault('200000000'), 'Largest file, in bytes.'),
  SHUTDOWN_GRACE: server(
    number(0, 600).prefault('10'),
    'Seconds that open streams have to finish when the server stops.',
  ),
  AGENT_CONFIG: server(
    z.string().default('./agent.json'),
    "File with the agent's prompt and tools. Without it, the agent has all tools and no prompt of yours; saving on the Agent page creates it. See docs/reference/agent-configuration.md.",
  ),
  CHAT_MODEL: chat(
    z.string().max(256).default('gpt-6.1-terra'),
    'Model that writes the answers; `extractive` quotes your documents instead, without a model, a key or a network.',
    { isCommon: true, example: 'extractive' },
  ),
  CHAT_API_KEY: chat(
    upstreamKey(),
    'Key for the chat model; any value for a server that needs none. Not required by `extractive`.',
    { isCommon: true },
  ),
  CHAT_BASE_URL: chat(
    httpUrl.default('https://api.openai.com/v1'),
    'Server of the chat model, up to the part before `/chat/completions`, `/responses` or `/messages`: OpenAI, Anthropic, Ollama, vLLM, OpenRouter …',
    { isCommon: true },
  ),
  CHAT_API: chat(
    oneOf(['auto', 'responses', 'chat-completions', 'messages']).default('auto'),
    "Protocol in which the chat model's server is asked. `auto`: Responses at OpenAI and Azure, Messages at Anthropic and at addresses that end in `/anthropic`, chat completions elsewhere, and whatever a refusal names.",
  ),
  CHAT_REASONING_EFFORT: chat(
    z
      .string()
      .regex(/^[a-z]{1,32}$/, 'must be a word such as none, low, medium or high')
      .optional(),
    "How much the chat model reasons, in its provider's words: `none`, `low`, `medium`, `high` … Not set: the model's own default.",
  ),
  CHAT_CONTEXT_TOKENS: chat(
    number(1_000, 10_000_000).prefault('32768'),
    'Context window of the model, in tokens; older messages are dropped to fit.',
  ),
  CHAT_IDLE_TIMEOUT: chat(
    number(1, 3_600).prefault('120'),
    'Seconds of silence after which a call of the chat model is given up.',
  ),
  CHAT_CONCURRENCY: chat(
    number(1, 100_000).prefault('2000'),
    'Chats at the same time; further ones get 429.',
  ),
  RUNS_KEPT: chat(
    number(0, 10_000).prefault('1000'),
    'Last runs kept for `GET /admin/runs`, with prompts and tool calls, for 30 days and in 500 MB at most.',
  ),
  TOP_K: knowledge(
    number(1, 100).prefault('5'),
    'Passages that a chat retrieves, unless the request says how many.',
  ),
  OCR: knowledge(
    oneOf(['on', 'pp-ocr', 'off']).default('on'),
    'Recognises text in images and scanned pages: `on` uses Tesseract; `pp-ocr` reads more and has to be installed. See docs/guides/files.md.',
  ),
  OCR_LANGUAGES: knowledge(
    z
      .string()
      .regex(
        /^[a-zA-Z_]{3,20}(?:[ ,+][a-zA-Z_]{3,20}){0,7}$/,
        'must be languages such as eng or deu+fra',
      )
      .default('eng'),
    'Languages to recognise, such as `eng+deu`. Each but English needs its package: `npm install @tesseract.js-data/deu`.',
  ),
  SEARCH_LANGUAGE: knowledge(
    oneOf(ANALYSER_LANGUAGES).default('english'),
    'Language of your documents, for stems and stop words; `none` uses neither. A change rebuilds the search index.',
    { isCommon: true },
  ),
  CITATION_CHECK: chat(
    oneOf(CitationCheck.options).default('words'),
    'What tells whether cited passages carry what an answer says: `words`, without a model, or `model`, by one more call of the chat model after each answer with citations. See docs/reference/citations.md.',
  ),
  CHUNK_CONTEXT: knowledge(
    oneOf(['off', 'chat']).default('off'),
    '`chat` lets the chat model write a sentence or two for each passage, by which it is found as well: one call per passage, in the background. See docs/guides/models.md.',
  ),
  PICTURE_DESCRIPTIONS: knowledge(
    oneOf(['off', 'chat']).default('off'),
    '`chat` lets the chat model, which must accept images, describe the pictures in documents added from then on, by which they are found: one call per picture, in the background. See docs/guides/models.md.',
  ),
  INGEST_CONCURRENCY: knowledge(
    number(1, 512).prefault('128'),
    'Documents that are ingested at the same time.',
  ),
  INGEST_QUEUE_LIMIT: knowledge(
    number(1, 10_000_000).prefault('10000'),
    'Documents that may wait for ingestion; further ones get 429. One key may have half of them, two a third each, and so on.',
  ),
  EMBEDDING_MODEL: embeddings(
    name(),
    'Model for search by meaning: `builtin` (English), `builtin-multilingual` (to be installed), `none`, or one at EMBEDDING_BASE_URL. Not set: the built-in one for SEARCH_LANGUAGE. To change it later, see docs/guides/operations.md.',
    { isCommon: true },
  ),
  EMBEDDING_BASE_URL: embeddings(
    httpUrl.optional(),
    'Server with OpenAI-compatible embeddings: Ollama, vLLM, Text Embeddings Inference … Not set: CHAT_BASE_URL.',
  ),
  EMBEDDING_API_KEY: embeddings(
    upstreamKey(),
    'Key for the embedding model. Not set: CHAT_API_KEY.',
  ),
  EMBEDDING_MODEL_NEXT: embeddings(
    name(),
    'Embedding model to change to; its vectors are made while the current ones are used. See docs/guides/operations.md.',
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
    'Model that reorders the best hits of every search; `chat` is the chat model. See docs/guides/models.md.',
  ),
  RERANK_BASE_URL: reranking(
    httpUrl.optional(),
    'Server with `/rerank`: Cohere, Jina, Voyage, vLLM, Text Embeddings Inference … Not set: EMBEDDING_BASE_URL, then CHAT_BASE_URL.',
  ),
  RERANK_API_KEY: reranking(
    upstreamKey(),
    'Key for the reranking model. Not set: EMBEDDING_API_KEY, then CHAT_API_KEY.',
  ),
  OIDC_ISSUER: people(
    z.string().refine(isIssuer, 'must be a URL like https://login.example.org').optional(),
    'Issuer of your company’s accounts, by OpenID Connect: people then sign in to the web UI there, and the API takes its access tokens. Not set: keys alone. See docs/guides/people.md.',
  ),
  OIDC_CLIENT_ID: people(
    z.string().max(256).optional(),
    'Id of this server at the issuer. Required with OIDC_ISSUER.',
  ),
  OIDC_CLIENT_SECRET: people(
    z
      .string()
      .regex(...KEY)
      .optional(),
    'Secret of this server at the issuer. Not set: a public client, with PKCE alone.',
  ),
  OIDC_SCOPES: people(
    z
      .string()
      .regex(/^openid( [\x21\x23-\x5b\x5d-\x7e]+)*$/, 'must be openid, and others after spaces')
      .default('openid profile email'),
    'What sign-in asks the issuer for. Some name groups only with `groups`, and refresh them only with `offline_access`.',
  ),
  OIDC_SUBJECT_CLAIM: people(
    z
      .string()
      .max(256)
      .refine(
        (claim) => !['email', 'upn', 'preferred_username'].includes(claim),
        'must be a claim that never changes, like sub or oid',
      )
      .default('sub'),
    'Claim that identifies a person, and never changes: `oid` at Entra. Never an email address, which another person may have later.',
  ),
  OIDC_GROUPS_CLAIM: people(
    z.string().max(256).default('groups'),
    'Claim with a person’s groups; `realm_access.roles` is a claim within another.',
  ),
  OIDC_ADMIN_GROUP: people(
    // Groups in tokens count in this form alone.
    z.string().max(200).normalize('NFC').optional(),
    'Group whose members are administrators. Not set: only the SERVER_API_KEY administers.',
  ),
  OIDC_REQUIRED_CLAIM: people(
    z
      .string()
      .max(512)
      .regex(/^[^=]+=./, 'must be a claim and its value, like hd=example.org')
      .optional(),
    'Claim that a token must have, and its value: `hd=example.org`. A list, as in `groups=staff`, must contain the value. Not set: everybody whom the issuer knows is let in.',
  ),
  OIDC_AUDIENCE: people(
    z.string().max(512).optional(),
    'Audience that access tokens must have. Not set: OIDC_CLIENT_ID, without its ID tokens; set to the same, these count as well.',
  ),
  AUDIT_DAYS: people(number(1, 3_650).prefault('365'), 'Days for which the audit log is kept.'),
  USAGE_DAYS: people(
    number(1, 3_650).prefault('400'),
    'Days for which it is kept who has used which model.',
  ),
  ...FEATURE_VARIABLES,
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
