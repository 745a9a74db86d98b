import type { Owner } from '@agent-server/lib/limiter.ts'
import { type JobRunner, runJobInTurn } from '@agent-server/lib/processes/child-process.ts'
import { type FormKind, FormResult, type FormValues } from './form.ts'

export const FILLING = {
  task: 'Reading the form',
  module: new URL('./fill.ts', import.meta.url),
  run: 'fillForm',
  heapMegabytes: 512,
  residentMegabytes: 1_024,
  deadlineMs: 30_000,
}
export type Forms = ReturnType<typeof createForms>

/** Fills forms, a few at a time, each in a separate process, since forms come from others and are not trusted. */
export function createForms(run: JobRunner = runJobInTurn) {
  return {
    /** Reads a form and, given values that fit, fills it. Throws `Refusal`, worded for the model. */
    fill: (
      input: { kind: FormKind; bytes: Uint8Array; values: FormValues },
      owner: Owner,
      signal: AbortSignal,
    ): Promise<FormResult> => run(FILLING, FormResult, { input, owner }, signal),
  }
}
