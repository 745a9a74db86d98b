import { availableParallelism } from 'node:os'
import { startDeadline, untilAborted } from '../../lib/abort.ts'
import { createNextAnswer } from '../../lib/next-answer.ts'
import { startProcess } from '../../lib/processes/child-process.ts'
import { createSemaphore } from '../../lib/semaphore.ts'
import { type Embedder, EmbedderError } from '../embedder.ts'
import type { FromEmbedding, ToEmbedding } from './embed-process.ts'
import { type BuiltinModel, DIMENSION, findPackage, MINILM } from './models.ts'

export const EMBED_ENTRY = new URL('./embed-process.ts', import.meta.url)
/** The process takes 100 to 400 MB: the runtime, the memory for one window, and the weights, once for each number of threads. */
export const EMBEDDING = { heapMegabytes: 192, residentMegabytes: 640 }
/** Deadline per text. Usually a second suffices, but a busy machine leaves the process little CPU time. */
const DEADLINE_MS = 120_000
/** How long after a question the documents leave a processor to the next. */
const QUIET_MS = 2_000
/** More threads hardly speed up a window. */
const MAX_THREADS = 8
/** How long the process is kept without work; the next question then waits half a second for a new one. */
const IDLE_MS = 300_000

interface BuiltinOptions {
  model?: BuiltinModel
  log?: { warn(fields: object, message: string): void } | undefined
  idleMs?: number
  /** Directory of the model's package; by default that of the installed one. */
  directory?: string
}

/**
 * A model in a separate process that starts on demand. It takes one text at a time, and no more than one document's is
 * before a question. While no question is asked, all processors work on a document's text, otherwise all but one.
 * Throws an Error that says what to do if the model's package is not installed.
 */
export function createBuiltinEmbedder(options: BuiltinOptions = {}): Embedder {
  const { model = MINILM, log, idleMs = IDLE_MS, directory = findPackage(model) } = options
  const { prefixes, tokenizer, window } = model
  const worker = createWorker({ directory, tokenizer, window }, idleMs, log)
  const documents = createSemaphore(1)
  const all = Math.min(MAX_THREADS, availableParallelism())
  const some = Math.max(1, all - 1)
  let asked = Number.NEGATIVE_INFINITY
  const threadsNow = () => (performance.now() - asked < QUIET_MS ? some : all)

  return {
    kind: 'builtin',
    name: model.name,
    dimension: DIMENSION,
    async embedDocuments(texts, signal) {
      const vectors: Float32Array<ArrayBuffer>[] = []
      for (const text of texts) {
        const embed = () =>
          worker.embed({ text, prefix: prefixes.document, threads: threadsNow() }, signal)
        vectors.push(await documents.run(embed, signal))
      }
      return vectors
    },
    async embedQuery(text, signal, sender) {
      asked = performance.now()
      return worker.embed({ text, prefix: prefixes.query, threads: some }, signal, sender)
    },
    close: worker.end,
  }
}

type Asking = Pick<ToEmbedding, 'text' | 'prefix' | 'threads'>
type Settings = Omit<ToEmbedding, keyof Asking>

/** Runs one process at a time, started on demand, which handles requests one after another. */
function createWorker(settings: Settings, idleMs: number, log: BuiltinOptions['log']) {
  const turns = createSemaphore(1)
  let running: ReturnType<typeof startModel> | undefined
  let idleTimer: NodeJS.Timeout | undefined

  const end = () => {
    clearTimeout(idleTimer)
    running?.kill()
    running = undefined
  }
  const embed = async (asking: Asking) => {
    clearTimeout(idleTimer)
    if (!running?.isAlive()) running = startModel(settings)
    const asked = running
    using deadline = startDeadline(DEADLINE_MS)
    try {
      return await untilAborted(asked.embed(asking), deadline.signal)
    } catch (cause) {
      if (running === asked) log?.warn({ err: cause }, 'restarting the built-in embedder')
      end()
      throw new EmbedderError('unavailable', 'The built-in embedder does not work', { cause })
    } finally {
      idleTimer = setTimeout(end, idleMs).unref()
    }
  }
  return {
    end,
    /** Aborting ends the wait but not the process's work: otherwise a slow start might never complete. */
    embed: (asking: Asking, signal: AbortSignal, sender?: string) =>
      untilAborted(
        turns.run(() => embed(asking), signal, sender),
        signal,
      ),
  }
}

/** Starts a process with the model. Only one `embed` may be in flight; it rejects if the process fails or ends. */
function startModel(settings: Settings) {
  const answers = createNextAnswer<Float32Array<ArrayBuffer>>()
  const { send, isAlive, kill } = startProcess<FromEmbedding>(
    { entry: EMBED_ENTRY, readable: [settings.directory] },
    EMBEDDING,
    {
      onMessage(message) {
        if ('failure' in message) answers.fail(new Error(message.failure))
        else answers.give(message.vector)
      },
      onEnd: answers.end,
    },
  )

  return {
    isAlive,
    kill,
    async embed(asking: Asking) {
      const answered = answers.next()
      const message: ToEmbedding = { ...settings, ...asking }
      await send(message)
      return answered
    },
  }
}
