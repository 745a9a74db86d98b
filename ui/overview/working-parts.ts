import type {
  Capabilities,
  Readiness,
  RunSummary,
  StorageUse,
  WatchedFolder,
} from '../../packages/client/src/agent-server.ts'
import { outcomeOf } from '../activity/run-view.tsx'
import { asSentence, counted, formatDate, formatNumber } from '../format.ts'
import { principalName } from '../parts/access-list.tsx'
import type { Tone } from '../parts/notes.tsx'

/** One component: its name, its state, and the remedy if it does not work. */
export interface Part {
  name: string
  tone: Tone
  state: string
  detail?: string | undefined
  remedy?: string | undefined
  /** Where it is set. */
  page?: SetUpPage | undefined
}

type SetUpPage = 'agent' | 'models' | 'documents'

const CHECKS: Record<string, { name: string; remedy: string; page?: SetUpPage }> = {
  store: {
    name: 'Document store',
    remedy: 'Check the disk at DATA_DIR or the database at DATABASE_URL. The log shows the cause.',
  },
  index: {
    name: 'Search index',
    remedy:
      'The index is updated after each start. If this persists, check QDRANT_URL and the log.',
  },
  agent: {
    name: 'Agent configuration',
    remedy: 'Fix agent.json; the log names the mistake.',
    page: 'agent',
  },
  ingestion: {
    name: 'Ingestion',
    remedy: 'Documents wait until the failed component works again. Nothing is lost.',
  },
  embedder: {
    name: 'Embedding model',
    remedy:
      'Search is lexical only until it responds. If EMBEDDING_BASE_URL is set, check it and its key; the log shows the cause.',
    page: 'models',
  },
  reranker: {
    name: 'Reranking model',
    remedy: 'Hits keep their original order until it responds. Check RERANK_BASE_URL and its key.',
    page: 'models',
  },
}

/** All components of the server, its watched folders, and failed documents; `last` is the latest run. */
export function partsOf(
  readiness: Readiness,
  capabilities: Capabilities,
  folders: readonly WatchedFolder[],
  last: RunSummary | undefined,
): Part[] {
  const parts = [
    chatPart(capabilities, last),
    retrievalPart(capabilities),
    ...warningParts(readiness),
    ...checkParts(readiness),
    ...documentsPart(readiness),
    ...folders.map(folderPart),
    sandboxPart(capabilities),
    ...namedParts(
      'MCP',
      capabilities.mcp,
      'Check that the server at this URL is running, then test the connection.',
    ),
    ...namedParts('Skill', capabilities.skills, 'Fix its source, or change it on the Agent page.'),
    ...namedParts('Plugin', capabilities.plugins, 'Fix its module and restart.'),
  ]
  return parts
}

/** Parts that simply work are listed in one line. */
export function inShort(parts: readonly Part[]): Part[] {
  const isPlain = ({ state, detail, remedy }: Part) => state === 'Works' && !detail && !remedy
  const plain = parts.filter(isPlain)
  if (plain.length < 2) return [...parts]
  const names = plain.map(({ name }) => name).join(', ')
  const all = plain.length === parts.length ? 'All parts' : 'All other parts'
  return [
    ...parts.filter((part) => !isPlain(part)),
    { name: all, tone: 'good', state: 'Work', detail: `${names}.` },
  ]
}

function documentsPart({ documents }: Readiness): Part[] {
  const failed = documents?.failed ?? 0
  if (failed === 0) return []
  const state = `${formatNumber(failed)} failed`
  const remedy = 'Open one to see the reason and what to do.'
  return [{ name: 'Documents', tone: 'bad', state, remedy, page: 'documents' }]
}

const FOLDER_STATES = {
  starting: { tone: 'busy', state: 'Starting' },
  following: { tone: 'good', state: 'Watched' },
  waiting: { tone: 'busy', state: 'Waiting' },
  elsewhere: { tone: 'off', state: 'Watched by another server' },
  failed: { tone: 'bad', state: 'Not watched' },
} as const

function folderPart({
  path,
  access,
  state,
  problem,
  files,
  open,
  lookedAt,
  ...more
}: WatchedFolder): Part {
  const left = open > 0 ? ` (${formatNumber(open)} pending)` : ''
  const looked =
    lookedAt && `${counted(files, 'file')}${left}, last checked ${formatDate(lookedAt)}`
  return {
    name: `Folder: ${path}`,
    ...FOLDER_STATES[state],
    detail: [asSentence(problem), asSentence(looked), readersOf(access), refusedOf(more)]
      .filter(Boolean)
      .join(' '),
    page: 'documents',
  }
}

function readersOf(access: WatchedFolder['access']) {
  const readers = [...(access ?? []), 'administrators'].map(principalName)
  return access && `Read by ${new Intl.ListFormat('en').format(readers)}.`
}

function refusedOf({ refused, refusedCount }: Pick<WatchedFolder, 'refused' | 'refusedCount'>) {
  const [first] = refused
  if (!first) return ''
  const others = refusedCount > 1 ? ` and ${formatNumber(refusedCount - 1)} more` : ''
  return `Not added: ${first.path} (${first.reason})${others}.`
}

function chatPart({ chat }: Capabilities, last: RunSummary | undefined): Part {
  if (last?.outcome.startsWith('upstream_')) {
    return {
      name: 'Chat model',
      tone: 'bad',
      state: 'Last answer failed',
      detail: `${outcomeOf(last)}, ${formatDate(last.startedAt)}.`,
      remedy: 'Test the model; Activity shows the cause.',
      page: 'models',
    }
  }
  if (chat.model === 'extractive') {
    return {
      name: 'Chat model',
      tone: 'good',
      state: 'Extractive',
      detail: 'Quotes the best sentences of the documents and writes no text of its own.',
      remedy: 'For written answers, set CHAT_MODEL, CHAT_API_KEY and CHAT_BASE_URL, and restart.',
      page: 'models',
    }
  }
  return {
    name: 'Chat model',
    tone: 'good',
    state: chat.model,
    detail: `${chat.tools ? 'Calls tools.' : 'Does not call tools and answers only from the passages.'} ${windowOf(chat)}`,
  }
}

function windowOf({ window, leftOut = [] }: Capabilities['chat']): string {
  const room = `Its window has ${formatNumber(window)} tokens`
  return leftOut.length === 0 ? `${room}.` : `${room}, with no room for ${leftOut.join(', ')}.`
}

function retrievalPart({ retrieval, reranker }: Capabilities): Part {
  const reranked = reranker.state === 'on' ? ` Reranked by ${reranker.model}.` : ''
  if (retrieval === 'hybrid') {
    const detail = `Keyword and vector search.${reranked}`
    return { name: 'Retrieval', tone: 'good', state: 'Hybrid', detail }
  }
  return {
    name: 'Retrieval',
    tone: 'good',
    state: 'Lexical',
    detail: `Keyword search only.${reranked}`,
    remedy: 'For vector search, set EMBEDDING_MODEL and restart.',
    page: 'models',
  }
}

function checkParts({ checks }: Readiness): Part[] {
  return Object.entries(checks).map(([key, { state, message }]) => {
    const { name, remedy, page } = CHECKS[key] ?? { name: key, remedy: 'The log shows the cause.' }
    return state === 'ok'
      ? { name, tone: 'good', state: 'Works' }
      : { name, tone: 'bad', state: 'Fails', detail: message, remedy, page }
  })
}

const NOTICES: Record<
  NonNullable<Readiness['warnings']>[number]['code'],
  Pick<Part, 'name' | 'state' | 'page'>
> = {
  model_closes: { name: 'Model', state: 'Closing', page: 'models' },
  clock_jumped: { name: 'Clock', state: 'Jumped' },
  language_mismatch: { name: 'Language', state: 'Finds less', page: 'models' },
}

function warningParts({ warnings = [] }: Readiness): Part[] {
  return warnings.map(({ code, model, message }) => ({
    tone: 'bad',
    detail: asSentence(message),
    ...NOTICES[code],
    ...(model !== undefined && { name: `Model: ${model}` }),
  }))
}

function sandboxPart({ sandbox }: Capabilities): Part {
  const name = 'Sandbox'
  if (sandbox.state === 'off') return { name, tone: 'off', state: 'Off', detail: sandbox.reason }
  const failed = sandbox.verified?.probes.find(({ ok }) => !ok)
  if (sandbox.state === 'unavailable' || failed) {
    const detail = sandbox.reason ?? failed?.message
    const remedy =
      failed?.remedy ?? 'Choose another sandbox in agent.json, or install what this one needs.'
    return { name, tone: 'bad', state: 'Unavailable', detail, remedy, page: 'agent' }
  }
  return { name, tone: 'good', state: 'Works', detail: `Runs code in the ${sandbox.kind} sandbox.` }
}

interface Named {
  name: string
  state: 'on' | 'off' | 'unavailable'
  reason?: string | undefined
  tools?: number | undefined
  /** Tools that have to be accepted. */
  waiting?: readonly string[] | undefined
}

function namedParts(kind: string, records: readonly Named[], remedy: string): Part[] {
  return records.map(({ name, state, reason, tools, waiting = [] }) => {
    const part = { name: `${kind}: ${name}`, detail: reason }
    if (state === 'off') return { ...part, tone: 'off', state: 'Off' }
    if (state === 'unavailable') {
      return { ...part, tone: 'bad', state: 'Unavailable', remedy, page: 'agent' }
    }
    const detail = tools === undefined ? reason : counted(tools, 'tool')
    const works = { ...part, tone: 'good' as const, state: 'Works', detail }
    if (waiting.length === 0) return works
    const toAccept = `${counted(waiting.length, 'tool')} to accept: test the connection and review what has changed.`
    return { ...works, remedy: toAccept, page: 'agent' }
  })
}

const NEARLY = 0.9

/** Whether more will be refused soon. Where the oldest goes, a bound is reached as a rule. */
export const isNearlyFull = ({
  count,
  most,
  whenFull,
}: Pick<StorageUse, 'count' | 'most' | 'whenFull'>) =>
  whenFull === 'refused' && most !== undefined && count > most * NEARLY
