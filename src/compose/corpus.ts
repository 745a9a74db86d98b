import { createEncryption } from '@agent-server/lib/encrypted.ts'
import { createLimiter } from '@agent-server/lib/limiter.ts'
import { everything } from '@agent-server/lib/visibility.ts'
import { type ChatModel, englishWords, isInstalled, MINILM } from '@agent-server/models'
import type { Caller } from '@agent-server/schemas/operator/api-key.ts'
import { createAnalyser } from '@agent-server/search'
import { isDocumentGone } from '@agent-server/stores'
import type { FastifyBaseLogger } from 'fastify'
import type { Config } from '../config.ts'
import {
  createConversationDocuments,
  createConversationSweep,
} from '../documents/conversation-documents.ts'
import { corpusForCaller, listCollections } from '../documents/corpus-access.ts'
import { type AllDocuments, createDocuments } from '../documents/ingestion/documents.ts'
import { createFiles } from '../documents/ingestion/uploads.ts'
import { SharedCollections } from '../documents/shared-collections.ts'
import { openWatch } from '../documents/watch/watch.ts'
import { openPages } from '../documents/web/pages.ts'
import { LanguageNotice } from '../retrieval/language-notice.ts'
import { createTermsOfChunk } from '../retrieval/relevance.ts'
import { createReranking } from '../retrieval/rerank.ts'
import { createRetrieval, type Retrieval, watchSearches } from '../retrieval/search.ts'
import { createSpelling } from '../retrieval/spelling.ts'
import { Background } from './background.ts'
import type { Knowledge } from './knowledge.ts'
import { createReranker, embeddingModel } from './models.ts'

/** Streams of lines that are read at a time; further ones wait. */
const MAX_STREAMS = 32
/** The deadline for making a document somebody else's. */
const GIVE_MS = 30_000

/** What clients do with the corpus, limited to what each may see and change, and background ingestion. */
export function openCorpus(
  config: Config,
  knowledge: Knowledge,
  retrieval: Retrieval,
  log: FastifyBaseLogger,
) {
  const { store, index, completionWaiter, backlog, pictures } = knowledge
  const { wake } = knowledge.ingestion
  const documents = createDocuments({
    store,
    index,
    completionWaiter,
    backlog,
    pictures,
    wake,
    log,
    lookup: store.lookup,
    cursors: createEncryption(config.SERVER_API_KEY, 'cursors'),
  })
  const web = openPages(
    {
      isOn: config.FETCH_URLS === 'on',
      ignoredRobots: config.FETCH_IGNORE_ROBOTS ?? [],
      allow: config.OUTBOUND_ALLOW ?? [],
      maxBytes: config.FILE_LIMIT,
    },
    { store, wake, log },
  )
  const { conversations, lookup } = store
  const sweep = createConversationSweep({ store, lookup, documents, log })
  const services = {
    documents,
    conversationDocuments: createConversationDocuments(conversations),
    retrieval,
    pages: web.pages,
    collections: listCollections(lookup),
    sharedFor: (caller: Caller) =>
      new SharedCollections({ store: store.collections, documents: store, lookup }, caller),
    files: createFiles({ store }),
    streams: createLimiter({ name: 'streams of lines', capacity: MAX_STREAMS }),
    payment: knowledge.usage.ledger,
    log,
  }
  const watched = config.WATCH_FOLDERS ?? []
  const folders = openWatch(
    {
      folders: watched,
      maxBytes: config.FILE_LIMIT,
      queueLimit: config.INGEST_QUEUE_LIMIT,
    },
    { store, documents, log },
  )
  const background = new Background(log)
  return {
    corpusFor: (caller: Caller) => corpusForCaller(caller, services),
    conversationDeleted: sweep.conversationDeleted,
    giveDocument: (id: string, creator: string) => giveDocument(documents, id, creator),
    folders,
    async start(running: AbortSignal) {
      const names = watched.flatMap(({ collection = [] }) => collection)
      await store.collections.reserve([...new Set(names)])
      running.throwIfAborted()
      background.add(web.run(running), folders.run(running), sweep.run(running))
    },
    /** Background work ends with `running`, before the close. */
    async close() {
      await background.ended()
      await web.close()
    },
  }
}

export type CorpusSide = ReturnType<typeof openCorpus>

/** A deleted one needs no owner. */
async function giveDocument({ patch }: Pick<AllDocuments, 'patch'>, id: string, creator: string) {
  try {
    await patch(everything(), id, { creator }, AbortSignal.timeout(GIVE_MS))
  } catch (error) {
    if (!isDocumentGone(error)) throw error
  }
}

export type Searching = ReturnType<typeof createSearch>

/** Search as configured: by keywords; with an embedder, by meaning too; reranked if there is a model for it. */
export function createSearch(
  config: Config,
  knowledge: Knowledge,
  model: ChatModel,
  log: FastifyBaseLogger,
) {
  const { store, index, embedding, reconciliation, metrics } = knowledge
  const language = config.SEARCH_LANGUAGE
  const analyser = createAnalyser(language)
  const mayBeEnglish = language === 'english' || language === 'none'
  const realWords = mayBeEnglish && isInstalled(MINILM) ? englishWords : undefined
  const reranker = createReranker(config, model, log)
  const reranking = reranker && createReranking({ reranker, log })
  const retrieval = createRetrieval({
    index,
    store,
    analyseQuery: analyser.query,
    spelling: createSpelling({ index, store, analyser, language, realWords }),
    termsOfChunk: createTermsOfChunk(analyser),
    reranking,
    embedding,
    hasAllVectors: () => reconciliation.progress().state === 'ready',
  })
  const languages = new LanguageNotice({
    store,
    searchLanguage: language,
    embeddings: !embedding
      ? 'none'
      : embeddingModel(config) === MINILM.setting
        ? 'english'
        : 'other',
    log,
  })
  return {
    retrieval: watchSearches(retrieval, reconciliation.check, {
      onQuestion: languages.noteQuestion,
      ended: metrics.searchEnded,
    }),
    languages,
    termsOf: (text: string) => analyser.query(text).terms,
    reranker: reranker && { name: reranker.name, check: reranking?.check },
    checkEmbedder:
      embedding &&
      (async (signal: AbortSignal) => {
        await reconciliation.checkVectors()
        await embedding.check(signal)
      }),
  }
}
