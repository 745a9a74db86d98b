import { readIfPresent } from '@agent-server/lib/files.ts'
import type { ChatModel } from '@agent-server/models'
import type { FastifyBaseLogger } from 'fastify'
import { describeAgent } from '../agent/describe-agent.ts'
import { roomForTools } from '../agent/run/prompt.ts'
import type { Config } from '../config.ts'
import { createClockNotice } from '../operator/ops/clock-notice.ts'
import { createClosingModels } from '../operator/ops/closing-models.ts'
import { createReadiness } from '../operator/ops/readiness.ts'
import { type AdminParts, composeAdmin } from './admin.ts'
import type { Searching } from './corpus.ts'
import type { Knowledge } from './knowledge.ts'
import { servedModels } from './models.ts'
import { createProcessChecks, processesOf } from './processes.ts'

interface OperatorParts extends AdminParts {
  knowledge: Knowledge
  search: Searching
  model: ChatModel
  server: NonNullable<AdminParts['server']>
}

/** What the operator sees of the server, and changes of it. */
export function openOperator({ knowledge, search, model, ...parts }: OperatorParts) {
  const { config, log, server } = parts
  const { host, window } = server.agents
  const { embedding, lexicalOnly, backlog } = knowledge
  const { sandbox, configuration } = host.current
  const processes = createProcessChecks({
    kinds: processesOf(embedding?.kind === 'builtin'),
    sandbox: model.supportsTools && configuration.tools.run_python ? sandbox : undefined,
    log,
  })
  const closingModels = createClosingModels({ models: servedModels(config), log })
  const admin = composeAdmin(parts)
  const description = describeAgent({
    current: () => host.current,
    isFileChanged: () => admin.agentFile.isChanged(),
    model,
    window,
    roomForTools: (prompt) => roomForTools(prompt, window),
    embedder: embedding && backlog && { ...embedding, progress: backlog.progress },
    lexicalOnly,
    reranker: search.reranker?.name,
  })
  const readiness = composeReadiness({ config, knowledge, search, processes, closingModels, log })
  return {
    admin,
    description,
    readiness,
    /** Ends once `running` is aborted. */
    async run(running: AbortSignal) {
      const { languages } = search
      await Promise.all([
        closingModels.run(running),
        languages.run(running),
        server.audit.run(running),
      ])
    },
    warn: processes.warn,
  }
}

interface ReadinessParts {
  config: Config
  knowledge: Knowledge
  search: Searching
  processes: ReturnType<typeof createProcessChecks>
  closingModels: ReturnType<typeof createClosingModels>
  log: FastifyBaseLogger
}

function composeReadiness(parts: ReadinessParts) {
  const { config, knowledge, search, processes, closingModels, log } = parts
  const { store, index, reconciliation, ingestion } = knowledge
  const { backlog, contexts, pictures, nextModel } = knowledge
  const clock = createClockNotice(log)
  return createReadiness({
    checks: {
      store: async (signal) => clock.note(await store.check(signal)),
      index: async (signal) => {
        // First, because an index that is still loading would not answer.
        await reconciliation.check()
        await index.check(signal)
      },
      agent: async () => void (await readIfPresent(config.AGENT_CONFIG)),
    },
    optional: {
      ingestion: async () => {
        await processes.check()
        await ingestion.check()
      },
      ...(search.checkEmbedder && { embedder: search.checkEmbedder }),
      ...(search.reranker?.check && { reranker: search.reranker.check }),
    },
    retrieval: search.checkEmbedder ? 'hybrid' : 'lexical',
    progress: () => ({
      ...(backlog && { embeddings: backlog.progress() }),
      ...(contexts && { contexts: contexts.progress() }),
      ...(pictures && { pictures: pictures.progress() }),
      ...(nextModel && { reEmbedding: nextModel.progress() }),
    }),
    warnings: () => [...closingModels.warnings(), ...clock.warnings()],
    privateWarnings: search.languages.warnings,
    stage: () => reconciliation.progress().state,
    counts: store.counts,
    log,
  })
}
