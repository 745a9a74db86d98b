import type { Fence } from './classify-line.ts'
import type { HeadingStep } from './heading-path.ts'

/** Where a text stands that goes on: what the next piece of it begins below, and within. */
export interface SplitContext {
  headings: readonly HeadingStep[]
  /** Of a block of code that was not closed. */
  fence: Fence | undefined
}
