import { ignore } from './ignore.ts'

interface Options<Entry> {
  /**
   * Stores entries; returns how many are done with, from the first on. With fewer than all, the round ends. What it
   * throws ends the round, too, and reaches whoever waits for it.
   */
  store(batch: readonly Entry[]): Promise<number>
  /** The most entries that are stored at a time. */
  batch: number
  /** How many may wait, as while the store is down. */
  most: number
  /** The delay until an entry is stored. */
  delayMs: number
}

/** Entries that are stored a little later, together, in the order in which they came. */
export class WriteBehind<Entry> {
  readonly #options: Options<Entry>
  readonly #waiting: Entry[] = []
  #timer: NodeJS.Timeout | undefined
  #storing = Promise.resolve()
  #next: Promise<void> | undefined

  constructor(options: Options<Entry>) {
    this.#options = options
  }

  /** Those that are not stored yet. */
  get waiting(): readonly Entry[] {
    return this.#waiting
  }

  /** Returns false, and leaves the entry out, if too many wait. */
  add(entry: Entry): boolean {
    const hasRoom = this.#waiting.length < this.#options.most
    if (hasRoom) this.#waiting.push(entry)
    this.later()
    return hasRoom
  }

  /** Stores what waits after the delay. */
  later(): void {
    this.#timer ??= setTimeout(
      () => void ignore(this.flush(), 'the next round tries again'),
      this.#options.delayMs,
    ).unref()
  }

  /** Stores what waits. */
  flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    // Whoever comes while others are being stored waits for one more round, all for the same.
    const before = ignore(this.#storing, 'whoever waits for that round is told')
    this.#next ??= before.then(() => {
      this.#next = undefined
      this.#storing = this.#store()
      return this.#storing
    })
    return this.#next
  }

  /** Of what comes meanwhile, the next round: nobody waits for as long as others add. */
  async #store(): Promise<void> {
    let left = this.#waiting.length
    while (left > 0) {
      const batch = this.#waiting.slice(0, Math.min(left, this.#options.batch))
      const done = await this.#options.store(batch)
      this.#waiting.splice(0, done)
      if (done < batch.length) return
      left -= done
    }
  }
}
