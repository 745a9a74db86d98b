import type { Log } from '@agent-server/lib/log.ts'

/** Work that runs beside requests until the server closes. */
export class Background {
  readonly #log: Pick<Log, 'error'>
  readonly #work: Promise<void>[] = []

  constructor(log: Pick<Log, 'error'>) {
    this.#log = log
  }

  /** Whatever ends the work early is logged: the server goes on without it. */
  add(...work: readonly Promise<void>[]): void {
    for (const each of work) {
      const logged = each.catch((error: unknown) =>
        this.#log.error({ err: error }, 'background work has ended; a restart begins it again'),
      )
      this.#work.push(logged)
    }
  }

  /** Resolves once all of it has ended, which the signals it was begun with bring about. */
  async ended(): Promise<void> {
    await Promise.all(this.#work)
  }
}
