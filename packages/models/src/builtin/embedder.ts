import { availableParallelism } from 'node:os'
import { startDeadline, untilAborted } from '@agent-server/lib/abort.ts'
import { createLimiter } from '@agent-server/lib/limiter.ts'
import type { Log } from '@agent-server/lib/log.ts'
import { atCodePoint } from '@agent-server/lib/markdown/characters.ts'
import { createNextAnswer } from '@agent-server/lib/next-answer.ts'
import { createOnDemand } from '@agent-server/lib/on-demand.ts'
import { startProcess } from '@agent-server/lib/processes/child-process.ts'
import { type Embedder, EmbedderError } from '../embedder.ts'
import type {
  EmbeddingAnswer,
  EmbeddingSettings,
  EmbeddingTask,
  FromEmbedding,
  ToEmbedding,
} from './embed-process.ts'
import { type BuiltinModel, DIMENSION, findPackage, MINILM } from './models.ts'
import { prefersEightBits } from './processor.ts'

export const EMBED_ENTRY = new URL('./embed-process.ts', import.meta.url)
/** A process takes 100 to 300 MB: the runtime, the weights, and the memory for one window. */
export const EMBEDDING = { heapMegabytes: 192, residentMegabytes: 640, isFrugal: true }
/** Deadline per text. Usually a second suffices, but a busy machine leaves the process little CPU time. */
const DEADLINE_MS = 120_000
/** More threads hardly speed up a window. */
const MAX_THREADS = 8
/** On a busy machine, a document's text gets a tenth of the CPU time of a question or of the server. */
const NICENESS = { document: 10, query: 0 }
/** How long a process is kept without work; what comes next then waits half a second for a new one. */
const IDLE_MS = { document: 10_000, query: 900_000 }
/** Windows of a document's text that are read: eight pages or more. */
const MAX_WINDOWS = 16
/** Tokens of a question that are read: they take about half a second, for which other questions wait. */
const MAX_QUESTION = 1_024
/** Most tokens are shorter; what a text has beyond its windows is not even sent to the process. */
const CHARACTERS_PER_TOKEN = 16

const UNREADABLE = 'The embedding model does not know most of the characters of this text'

interface BuiltinOptions {
  model?: BuiltinModel
  log?: Pick<Log, 'warn'> | undefined
  idleMs?: number
  /** Directory of the model's package; by default that of the installed one. */
  directory?: string
  /** Whether it computes with 8 bits rather than with floats; by default what the processor does quicker. */
  eightBits?: boolean
}

/**
 * A model in two separate processes that start on demand: one for questions, and one of a lower priority for the texts
 * of documents, on all processors, so that a question does not wait for them. Each takes one text at a time.
 * Throws an Error that says what to do if the model's package is not installed.
 */
export function createBuiltinEmbedder(options: BuiltinOptions = {}): Embedder {
  const { model = MINILM, log, idleMs, directory = findPackage(model) } = options
  const { eightBits = prefersEightBits() } = options
  const { prefixes, tokenizer, window } = model
  const threads = Math.min(MAX_THREADS, availableParallelism())
  const workerFor = (kind: keyof typeof NICENESS) => {
    const fixed = { directory, tokenizer, window, threads, eightBits }
    const windows = kind === 'query' ? MAX_QUESTION / window : MAX_WINDOWS
    const ofKind = { niceness: NICENESS[kind], prefix: prefixes[kind], windows }
    return createWorker({ ...fixed, ...ofKind }, idleMs ?? IDLE_MS[kind], log)
  }
  const documents = workerFor('document')
  const queries = workerFor('query')

  return {
    kind: 'builtin',
    name: model.name,
    dimension: DIMENSION,
    async embedDocuments(texts, signal, sender) {
      if (texts.length > 1) await documents.check(texts, signal, sender)
      const vectors: Float32Array<ArrayBuffer>[] = []
      for (const text of texts) vectors.push(await documents.embed(text, signal, sender))
      return vectors
    },
    embedQuery: queries.embed,
    close() {
      documents.end()
      queries.end()
    },
  }
}

/** Runs one process at a time, started on demand, which handles requests one after another. */
function createWorker(settings: EmbeddingSettings, idleMs: number, log: BuiltinOptions['log']) {
  const turns = createLimiter({ name: 'built-in embedder', capacity: 1 })
  let isStopped = false
  const start = () => {
    const model = startModel(settings, () => models.ended(model))
    return model
  }
  const models = createOnDemand({ start, end: (model) => model.kill(), idleMs })

  const answer = (task: EmbeddingTask) =>
    models.use(async (model) => {
      using deadline = startDeadline(DEADLINE_MS)
      try {
        return await untilAborted(model.answer(task), deadline.signal)
      } catch (cause) {
        if (!isStopped) log?.warn({ err: cause }, 'restarting the built-in embedder')
        await models.stop()
        throw new EmbedderError('unavailable', 'The built-in embedder does not work', { cause })
      }
    })
  /** Aborting ends the wait but not the process's work: otherwise a slow start might never complete. */
  const inTurn = async (task: EmbeddingTask, signal: AbortSignal, sender?: string) => {
    const turn = turns.run(sender, () => answer(task), signal)
    const outcome = await untilAborted(turn, signal)
    if ('vector' in outcome) return outcome.vector
    if (outcome.unreadable.length === 0) return undefined
    throw new EmbedderError('refused', UNREADABLE, { positions: outcome.unreadable })
  }
  const maxCharacters = settings.windows * settings.window * CHARACTERS_PER_TOKEN
  const beginningOf = (text: string) => text.slice(0, atCodePoint(text, maxCharacters))

  return {
    end() {
      isStopped = true
      void models.stop()
    },
    /** Throws EmbedderError `refused` with the positions of the texts that the model cannot read, if any. */
    async check(texts: readonly string[], signal: AbortSignal, sender?: string) {
      await inTurn({ checked: texts.map(beginningOf) }, signal, sender)
    },
    async embed(text: string, signal: AbortSignal, sender?: string) {
      const vector = await inTurn({ text: beginningOf(text) }, signal, sender)
      if (!vector) throw new Error('The process returned no vector')
      return vector
    },
  }
}

/** Starts a process with the model. Only one task may be in flight; it rejects if the process fails or ends. */
function startModel(settings: EmbeddingSettings, onEnd: () => void) {
  const answers = createNextAnswer<EmbeddingAnswer>()
  const { send, kill } = startProcess<FromEmbedding>(
    { entry: EMBED_ENTRY, readable: [settings.directory] },
    EMBEDDING,
    {
      onMessage(message) {
        if ('failure' in message) answers.fail(new Error(message.failure))
        else answers.give(message)
      },
      onEnd(error) {
        onEnd()
        answers.end(error)
      },
    },
  )

  return {
    kill,
    async answer(task: EmbeddingTask) {
      const answer = answers.next()
      await send({ ...settings, ...task } satisfies ToEmbedding)
      return answer
    },
  }
}
