import { setTimeout as pause } from 'node:timers/promises'
import type { Readiness } from '../../schemas/ops.ts'
import { embedAnew, type Replacing } from './replace-vectors.ts'

/** Looked for new passages that often, once all have been embedded, and tried again that long after a failure. */
const POLL_MILLISECONDS = 10_000
/** Keys are given out before their chunks are kept, so that a later chunk may bear an earlier key, but not one earlier than that. */
const LATEST_KEYS = 65_536

export type StagingProgress = NonNullable<Readiness['reindex']>

export interface Staging {
  /** Embeds what there is and what comes, until `signal` is aborted. Throws nothing: a failure is told and tried again. */
  run(signal: AbortSignal): Promise<void>
  progress(): StagingProgress
}

interface Dependencies extends Omit<Replacing, 'progress'> {
  log: { warn(fields: object, message: string): void; info(fields: object, message: string): void }
  pollMilliseconds?: number
}

/** Makes the vectors of the model to come beside those in use, while the server serves; a start with that model then swaps them. */
export function createStaging(dependencies: Dependencies): Staging {
  const { embedder, log, pollMilliseconds = POLL_MILLISECONDS } = dependencies
  let progress: StagingProgress = { model: embedder.name, state: 'embedding', done: 0, total: 0 }
  let last = 0

  const tell = (done: number, total: number) => {
    progress = { model: embedder.name, state: progress.state, done, total }
  }

  const pass = async (signal: AbortSignal) => {
    const isDone = await dependencies.replacement.alone(async (alone) => {
      const after = Math.max(0, last - LATEST_KEYS)
      last = await embedAnew({ ...dependencies, progress: tell }, after, alone)
    }, signal)
    if (!isDone) throw new Error('Another server makes them')
    const { model } = progress
    if (progress.state !== 'ready') {
      log.info(
        { model },
        'every passage has a vector of the next model: EMBEDDING_MODEL can be set',
      )
    }
    progress = { ...progress, state: 'ready' }
  }

  const failed = (error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error)
    if (progress.reason !== reason) {
      log.warn({ err: error }, 'the next vectors cannot be made now; trying again')
    }
    progress = { ...progress, state: 'waiting', reason }
  }

  return {
    progress: () => progress,
    async run(signal) {
      while (!signal.aborted) {
        try {
          await pass(signal)
        } catch (error) {
          if (!signal.aborted) failed(error)
        }
        await pause(pollMilliseconds, undefined, { signal }).catch(() => undefined)
      }
    },
  }
}
