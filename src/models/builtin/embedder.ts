import { createRequire } from 'node:module'
import { availableParallelism } from 'node:os'
import { dirname } from 'node:path'
import { startDeadline, untilAborted } from '../../lib/abort.ts'
import { createNextAnswer } from '../../lib/next-answer.ts'
import { startProcess } from '../../lib/processes/child-process.ts'
import { createSemaphore } from '../../lib/semaphore.ts'
import { type Embedder, EmbedderError } from '../embedder.ts'
import type { FromEmbedding, ToEmbedding } from './embed-process.ts'

/** Kept with the vectors: other weights need another name. */
export const BUILTIN_MODEL = 'builtin/all-MiniLM-L6-v2'
const DIMENSION = 384
const PACKAGE = 'agent-server-minilm'
const ENTRY = new URL('./embed-process.ts', import.meta.url)
/** It holds about 150 MB: the runtime, the weights, and what one window takes. */
const LIMITS = { heapMegabytes: 192, residentMegabytes: 640 }
/** Texts of one message: about a second's work, which goes on where it has become for nobody. */
const MAX_TEXTS = 8
/** They take a few seconds, but their process has the little that a busy machine has left. */
const DEADLINE_MS = 600_000
/** More threads than this hardly make one window faster. */
const MAX_THREADS = 8
/** A process without work is ended after so long; the next question then waits half a second for a new one. */
const IDLE_MS = { questions: 600_000, documents: 30_000 }

interface BuiltinOptions {
  log?: { warn(fields: object, message: string): void } | undefined
  idleMs?: typeof IDLE_MS
  /** Of the package with the model; not given, the one that is installed. */
  directory?: string
}

/**
 * all-MiniLM-L6-v2 with 8-bit weights, in processes of its own that start when there is work: one for questions,
 * and one of lower priority for documents, so that no question waits for them. Throws an Error that says what to do where its package
 * is not installed.
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

/** One process at a time, started when it is needed, which embeds what is asked in turn. */
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
    /** Who does not wait any longer leaves the process to its work: one that starts slowly would never have started. */
    embed: (texts: readonly string[], signal: AbortSignal) =>
      untilAborted(
        turns.run(() => embed(texts), signal),
        signal,
      ),
  }
}

/** The process with the model. One question at a time: an array of vectors, or what it ended with. */
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
