import type { Capabilities, Readiness } from '../../client/src/agent-server.ts'
import { counted } from '../format.ts'
import type { Tone } from './notes.tsx'

/** One line of what works: what it is, its state in a word, and what to do where it does not. */
export interface Part {
  name: string
  tone: Tone
  state: string
  detail?: string | undefined
  remedy?: string | undefined
  /** Where it is set. */
  page?: SetUpPage | undefined
}

type SetUpPage = 'agent' | 'models'

const CHECKS: Record<string, { name: string; remedy: string; page?: SetUpPage }> = {
  store: {
    name: 'Document store',
    remedy:
      'Look at the disk of DATA_DIR, or at the database of DATABASE_URL; the log has the cause.',
  },
  index: {
    name: 'Search index',
    remedy:
      'After a start it is brought up to date first. If it stays, look at QDRANT_URL and the log.',
  },
  agent: {
    name: 'Agent configuration',
    remedy: 'Mend agent.json; the log names the mistake.',
    page: 'agent',
  },
  ingestion: {
    name: 'Ingestion',
    remedy: 'Documents wait until the part that is named works; nothing sent is lost.',
  },
  embedder: {
    name: 'Embedding model',
    remedy: 'Search goes by words alone until it answers. Look at EMBEDDING_BASE_URL and its key.',
    page: 'models',
  },
  reranker: {
    name: 'Reranking model',
    remedy: 'Hits keep their first order until it answers. Look at RERANK_BASE_URL and its key.',
    page: 'models',
  },
}

/** Everything that the server is made of, what does not work first. */
export function partsOf(readiness: Readiness, capabilities: Capabilities): Part[] {
  const parts = [
    chatPart(capabilities),
    retrievalPart(capabilities),
    ...checkParts(readiness),
    sandboxPart(capabilities),
    ...namedParts(
      'MCP',
      capabilities.mcp,
      'Look whether the server at its address runs, then test the connection.',
    ),
    ...namedParts('Skill', capabilities.skills, 'Mend its source in agent.json and start again.'),
    ...namedParts('Plugin', capabilities.plugins, 'Mend its module and start again.'),
  ]
  return parts.toSorted((a, b) => Number(b.tone === 'bad') - Number(a.tone === 'bad'))
}

function chatPart({ chat }: Capabilities): Part {
  if (chat.model === 'extractive') {
    return {
      name: 'Chat model',
      tone: 'good',
      state: 'Extractive',
      detail: 'Quotes the best sentences of the documents and writes nothing of its own.',
      remedy:
        'For written answers set CHAT_MODEL, CHAT_API_KEY and CHAT_BASE_URL, and start again.',
      page: 'models',
    }
  }
  return {
    name: 'Chat model',
    tone: 'good',
    state: chat.model,
    detail: chat.tools ? 'Calls tools.' : 'Calls no tools: it answers from the passages alone.',
  }
}

function retrievalPart({ retrieval, reranker }: Capabilities): Part {
  const reranked = reranker.state === 'on' ? ` Reranked by ${reranker.model}.` : ''
  if (retrieval === 'hybrid') {
    const detail = `By words and by meaning.${reranked}`
    return { name: 'Retrieval', tone: 'good', state: 'Hybrid', detail }
  }
  return {
    name: 'Retrieval',
    tone: 'good',
    state: 'Lexical',
    detail: `By words alone.${reranked}`,
    remedy: 'To find by meaning as well set EMBEDDING_MODEL, and start again.',
    page: 'models',
  }
}

function checkParts({ checks }: Readiness): Part[] {
  return Object.entries(checks).map(([key, { state, message }]) => {
    const { name, remedy, page } = CHECKS[key] ?? { name: key, remedy: 'The log has the cause.' }
    return state === 'ok'
      ? { name, tone: 'good', state: 'Works' }
      : { name, tone: 'bad', state: 'Fails', detail: message, remedy, page }
  })
}

function sandboxPart({ sandbox }: Capabilities): Part {
  const name = 'Sandbox'
  if (sandbox.state === 'off') return { name, tone: 'off', state: 'Off', detail: sandbox.reason }
  const failed = sandbox.verified?.probes.find(({ ok }) => !ok)
  if (sandbox.state === 'unavailable' || failed) {
    const detail = sandbox.reason ?? failed?.message
    const remedy =
      failed?.remedy ?? 'Choose another sandbox in agent.json, or install what it needs.'
    return { name, tone: 'bad', state: 'Unavailable', detail, remedy, page: 'agent' }
  }
  return { name, tone: 'good', state: 'Works', detail: `Runs code in the ${sandbox.kind} sandbox.` }
}

interface Named {
  name: string
  state: 'on' | 'off' | 'unavailable'
  reason?: string | undefined
  tools?: number | undefined
}

function namedParts(kind: string, records: readonly Named[], remedy: string): Part[] {
  return records.map(({ name, state, reason, tools }) => {
    const part = { name: `${kind}: ${name}`, detail: reason }
    if (state === 'off') return { ...part, tone: 'off', state: 'Off' }
    if (state === 'unavailable') {
      return { ...part, tone: 'bad', state: 'Unavailable', remedy, page: 'agent' }
    }
    const detail = tools === undefined ? reason : counted(tools, 'tool')
    return { ...part, tone: 'good', state: 'Works', detail }
  })
}
