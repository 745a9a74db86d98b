import { createRequire } from 'node:module'
import { availableParallelism } from 'node:os'
import { dirname } from 'node:path'
import { SetupError } from '../../errors.ts'
import { startDeadline, untilAborted } from '../../lib/abort.ts'
import { createNextAnswer } from '../../lib/next-answer.ts'
import { startProcess } from '../../lib/processes/child-process.ts'
import { createSemaphore } from '../../lib/semaphore.ts'
import { type Embedder, EmbedderError } from '../embedder.ts'
import type { FromEmbedding, ToEmbedding } from './embed-process.ts'

/** Stored with the vectors: different weights need a different name. */
export const BUILTIN_MODEL = 'builtin/all-MiniLM-L6-v2'
const DIMENSION = 384
const PACKAGE = 'agent-server-minilm'
export const EMBED_ENTRY = new URL('./embed-process.ts', import.meta.url)
/** The process takes about 100 MB: the runtime, the weights and the memory for one window. */
export const EMBEDDING = { heapMegabytes: 192, residentMegabytes: 640 }
/** Deadline per text. Usually a second suffices, but a busy machine leaves the process little CPU time. */
const DEADLINE_MS = 120_000
/** More threads hardly speed up a window. */
const MAX_THREADS = 8
/** How long the process is kept without work; the next question then waits half a second for a new one. */
const IDLE_MS = 300_000

interface BuiltinOptions {
  log?: { warn(fields: object, message: string): void } | undefined
  idleMs?: number
  /** Directory of the model's package; by default that of the installed one. */
  directory?: string
}

/**
 * all-MiniLM-L6-v2 with 8-bit weights, in a separate process that starts on demand. It takes one text at a time, and
 * no more than one document's is before a question. Throws an Error that says what to do if the model's package is
 * not installed.
 */
export function createBuiltinEmbedder(options: BuiltinOptions = {}): Embedder {
  const { log, idleMs = IDLE_MS, directory = findPackage() } = options
  const threads = Math.min(MAX_THREADS, Math.max(1, availableParallelism() - 1))
  const worker = createWorker({ directory, threads }, idleMs, log)
  const documents = createSemaphore(1)

  return {
    kind: 'builtin',
    name: BUILTIN_MODEL,
    dimension: DIMENSION,
    async embedDocuments(texts, signal) {
      const vectors: Float32Array<ArrayBuffer>[] = []
      for (const text of texts) {
        vectors.push(await documents.run(() => worker.embed(text, signal), signal))
      }
      return vectors
    },
    embedQuery: worker.embed,
    close: worker.end,
  }
}

/** Why this is not the default embedder for a store and its language; undefined if it is. */
export async function reasonAgainstDefault(
  language: string,
  store: { embedding(): Promise<{ model: string } | undefined> },
): Promise<string | undefined> {
  if (language !== 'english') {
    return `the built-in embedder supports only English, and SEARCH_LANGUAGE is ${language}; set EMBEDDING_MODEL to a model for that language`
  }
  const kept = await store.embedding()
  if (!kept || kept.model === BUILTIN_MODEL) return undefined
  return `the documents were embedded with "${kept.model}"; set EMBEDDING_MODEL to it, or change to builtin on the Models page of the web UI, or set EMBEDDING_MODEL=builtin and run npm run re-embed`
}

function findPackage(): string {
  try {
    return dirname(createRequire(import.meta.url).resolve(`${PACKAGE}/package.json`))
  } catch (cause) {
    throw new SetupError(
      `EMBEDDING_MODEL=builtin requires the package ${PACKAGE}, which is not installed: install it, or set EMBEDDING_MODEL=none`,
      { cause },
    )
  }
}

type Settings = Omit<ToEmbedding, 'text'>

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
  const embed = async (text: string) => {
    clearTimeout(idleTimer)
    if (!running?.isAlive()) running = startModel(settings)
    const asked = running
    using deadline = startDeadline(DEADLINE_MS)
    try {
      return await untilAborted(asked.embed(text), deadline.signal)
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
    embed: (text: string, signal: AbortSignal, sender?: string) =>
      untilAborted(
        turns.run(() => embed(text), signal, sender),
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
    async embed(text: string) {
      const answered = answers.next()
      const message: ToEmbedding = { ...settings, text }
      await send(message)
      return answered
    },
  }
}
