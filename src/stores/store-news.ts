/** What a store hears of the other servers that share it. None of it may throw. */
export interface StoreListener {
  /** There may be a job to claim that was not there before. */
  jobCame(): void
  /** This document is ready or has failed; without an id, any may be. */
  documentEnded(id?: string): void
}

/** Tells what other servers do, as soon as may be; what it misses has to be looked for now and then. */
export interface StoreNews {
  subscribe(listener: StoreListener): void
}
