import { availableParallelism } from 'node:os'
import { startDeadline, untilAborted } from '../../lib/abort.ts'
import { ignore } from '../../lib/ignore.ts'
import { startProcess } from '../../lib/processes/child-process.ts'
import { createSemaphore } from '../../lib/semaphore.ts'
import { type Embedder, EmbedderError } from '../embedder.ts'
import type { FromEmbedding, ToEmbedding } from './embed-process.ts'
import { type BuiltinModel, DIMENSION, findPackage, MINILM } from './models.ts'

export const EMBED_ENTRY = new URL('./embed-process.ts', import.meta.url)
/** The process takes about 100 MB: the runtime, the weights and the memory for one window. */
export const EMBEDDING = { heapMegabytes: 192, residentMegabytes: 640 }
/** Deadline per text. Usually a second suffices, but a busy machine leaves the process little CPU time. */
const DEADLINE_MS = 120_000
/** Texts of documents that are embedded together while no question is asked, and since when none was asked. */
const DOCUMENTS_AT_ONCE = 2
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
 * A model in a separate process that starts on demand. A question does not wait for documents: of these it takes one
 * text at a time while questions are asked, and two otherwise, which together use all processors. Throws an Error that
 * says what to do if the model's package is not installed.
 */
export function createBuiltinEmbedder(options: BuiltinOptions = {}): Embedder {
  const { model = MINILM, log, idleMs = IDLE_MS, directory = findPackage(model) } = options
  const { prefixes, tokenizer, window } = model
  const processors = availableParallelism()
  const threads = Math.min(MAX_THREADS, Math.max(1, processors - 1))
  const worker = createWorker({ directory, threads, tokenizer, window }, idleMs, log)
  const atOnce = Math.min(processors, DOCUMENTS_AT_ONCE)
  const documents = createSemaphore(atOnce)
  const questions = createSemaphore(1)
  let asked = Number.NEGATIVE_INFINITY
  const isAsked = () => performance.now() - asked < QUIET_MS

  return {
    kind: 'builtin',
    name: model.name,
    dimension: DIMENSION,
    async embedDocuments(texts, signal) {
      const vectors: Float32Array<ArrayBuffer>[] = []
      let next = 0
      const work = async (isSpare: boolean) => {
        while (next < texts.length && !(isSpare && isAsked())) {
          const place = next++
          const asking = { text: texts[place] ?? '', prefix: prefixes.document }
          vectors[place] = await worker.embed(asking, documents, signal)
        }
      }
      await Promise.all(Array.from({ length: atOnce }, (_, lane) => work(lane > 0)))
      return vectors
    },
    async embedQuery(text, signal, sender) {
      asked = performance.now()
      return worker.embed({ text, prefix: prefixes.query }, questions, signal, sender)
    },
    close: worker.end,
  }
}

type Vector = Float32Array<ArrayBuffer>
type Asking = Pick<ToEmbedding, 'text' | 'prefix'>
type Settings = Omit<ToEmbedding, 'id' | keyof Asking>

/** Runs one process at a time, started on demand. */
function createWorker(settings: Settings, idleMs: number, log: BuiltinOptions['log']) {
  let running: ReturnType<typeof startModel> | undefined
  let inFlight = 0
  let idleTimer: NodeJS.Timeout | undefined

  const end = () => {
    clearTimeout(idleTimer)
    running?.kill()
    running = undefined
  }
  const embed = async (asking: Asking) => {
    clearTimeout(idleTimer)
    inFlight++
    if (!running?.isAlive()) running = startModel(settings)
    const asked = running
    using deadline = startDeadline(DEADLINE_MS)
    try {
      return await untilAborted(asked.embed(asking), deadline.signal)
    } catch (cause) {
      if (running === asked) {
        log?.warn({ err: cause }, 'restarting the built-in embedder')
        end()
      }
      throw new EmbedderError('unavailable', 'The built-in embedder does not work', { cause })
    } finally {
      inFlight--
      if (inFlight === 0) idleTimer = setTimeout(end, idleMs).unref()
    }
  }
  return {
    end,
    /** Aborting ends the wait but not the process's work: otherwise a slow start might never complete. */
    embed: (
      asking: Asking,
      turns: ReturnType<typeof createSemaphore>,
      signal: AbortSignal,
      sender?: string,
    ) =>
      untilAborted(
        turns.run(() => embed(asking), signal, sender),
        signal,
      ),
  }
}

/** Starts a process with the model. What is in flight rejects if the process ends. */
function startModel(settings: Settings) {
  const waiting = new Map<number, PromiseWithResolvers<Vector>>()
  let last = 0
  const take = (id: number) => {
    const asked = waiting.get(id)
    waiting.delete(id)
    return asked
  }
  const { send, isAlive, kill } = startProcess<FromEmbedding>(
    { entry: EMBED_ENTRY, readable: [settings.directory] },
    EMBEDDING,
    {
      onMessage(message) {
        if ('failure' in message) take(message.id)?.reject(new Error(message.failure))
        else take(message.id)?.resolve(message.vector)
      },
      onEnd(error) {
        for (const id of waiting.keys()) take(id)?.reject(error)
      },
    },
  )

  return {
    isAlive,
    kill,
    async embed(asking: Asking) {
      const id = ++last
      const answer = Promise.withResolvers<Vector>()
      waiting.set(id, answer)
      void ignore(answer.promise, 'sending may fail first, and then it is awaited no more')
      const message: ToEmbedding = { id, ...settings, ...asking }
      await send(message)
      return answer.promise
    },
  }
}
