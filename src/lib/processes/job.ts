// What both sides of a job know: who has it run, and the process that does the work.

/** What the job itself says went wrong, in words for whoever asked for it. */
export class JobRefusal extends Error {
  override readonly name: string = 'JobRefusal'
}

/** The job took more time or memory than it was given. The cause is what it wrote to its standard error. */
export class JobExhausted extends JobRefusal {
  override readonly name = 'JobExhausted'
}

/** The process ended by itself, for another reason than its memory. The cause is as above. */
export class JobCrashed extends Error {
  override readonly name = 'JobCrashed'
}

/** What a job answers. */
export type JobAnswer = { output: unknown } | { refusal: string } | { failure: string }
