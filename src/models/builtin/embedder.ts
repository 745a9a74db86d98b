import { createRequire } from 'node:module'
import { availableParallelism } from 'node:os'
import { dirname } from 'node:path'
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
const ENTRY = new URL('./embed-process.ts', import.meta.url)
/** A process takes about 150 MB: the runtime, the weights and the memory for one window. */
const LIMITS = { heapMegabytes: 192, residentMegabytes: 640 }
/** Texts per message, about a second of work, which is not interrupted even if nobody waits for it any more. */
const MAX_TEXTS = 8
/** Deadline per message. Usually a few seconds suffice, but a busy machine leaves the process little CPU time. */
const DEADLINE_MS = 600_000
/** More threads hardly speed up a window. */
const MAX_THREADS = 8
/** Idle timeout after which a process is ended; the next question then waits half a second for a new one. */
const IDLE_MS = { questions: 600_000, documents: 30_000 }

interface BuiltinOptions {
  log?: { warn(fields: object, message: string): void } | undefined
  idleMs?: typeof IDLE_MS
  /** Directory of the model's package; by default that of the installed one. */
  directory?: string
}

/**
 * all-MiniLM-L6-v2 with 8-bit weights, in separate processes that start on demand: one for questions, and one of lower
 * priority for documents, so that questions never wait for documents. Throws an Error that says what to do if the
 * model's package is not installed.
 */
export function createBuiltinEmbedder(options: BuiltinOptions = {}): Embedder {
  const { log, idleMs = IDLE_MS, directory = findPackage() } = options
  const cores = availableParallelism()
  const startWorker = (isBackground: boolean, idle: number) => {
    const threads = Math.min(MAX_THREADS, isBackground ? Math.max(1, cores - 1) : cores)
    return createWorker({ directory, threads, isBackground }, idle, log)
  }
  const questions = startWorker(false, idleMs.questions)
  const documents = startWorker(true, idleMs.documents)

  return {
    kind: 'builtin',
    name: BUILTIN_MODEL,
    dimension: DIMENSION,
    async embedDocuments(texts, signal) {
      const vectors: Float32Array<ArrayBuffer>[] = []
      for (let start = 0; start < texts.length; start += MAX_TEXTS) {
        vectors.push(...(await documents.embed(texts.slice(start, start + MAX_TEXTS), signal)))
      }
      return vectors
    },
    async embedQuery(text, signal) {
      const [vector] = await questions.embed([text], signal)
      if (!vector) throw new EmbedderError('unavailable', 'The built-in embedder gave no vector')
      return vector
    },
    close() {
      questions.end()
      documents.end()
    },
  }
}

function findPackage(): string {
  try {
    return dirname(createRequire(import.meta.url).resolve(`${PACKAGE}/package.json`))
  } catch (cause) {
    throw new Error(
      `EMBEDDING_MODEL=builtin needs the package ${PACKAGE}, which is not installed here: install it, or set EMBEDDING_MODEL=none`,
      { cause },
    )
  }
}

type Settings = Omit<Extract<ToEmbedding, { kind: 'begin' }>, 'kind'>

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
  const embed = async (texts: readonly string[]) => {
    clearTimeout(idleTimer)
    if (!running?.isAlive()) running = startModel(settings)
    const asked = running
    using deadline = startDeadline(DEADLINE_MS)
    try {
      return await untilAborted(asked.embed(texts), deadline.signal)
    } catch (cause) {
      if (running === asked) log?.warn({ err: cause }, 'the built-in embedder is started anew')
      end()
      throw new EmbedderError('unavailable', 'The built-in embedder does not work', { cause })
    } finally {
      idleTimer = setTimeout(end, idleMs).unref()
    }
  }
  return {
    end,
    /** Aborting ends the wait but not the process's work: otherwise a slow start might never complete. */
    embed: (texts: readonly string[], signal: AbortSignal) =>
      untilAborted(
        turns.run(() => embed(texts), signal),
        signal,
      ),
  }
}

/** Starts a process with the model. Only one `embed` may be in flight; it rejects if the process fails or ends. */
function startModel(settings: Settings) {
  const answers = createNextAnswer<Float32Array<ArrayBuffer>[]>()
  const { send, isAlive, kill } = startProcess<FromEmbedding>(
    { entry: ENTRY, readable: [settings.directory] },
    LIMITS,
    {
      onMessage(message) {
        if ('failure' in message) answers.fail(new Error(message.failure))
        else answers.give(message.vectors)
      },
      onEnd: answers.end,
    },
  )
  const post = (message: ToEmbedding) => send(message)
  void post({ kind: 'begin', ...settings })

  return {
    ...{ isAlive, kill },
    async embed(texts: readonly string[]) {
      const answered = answers.next()
      await post({ kind: 'embed', texts })
      return answered
    },
  }
}
