import { JobExhausted, JobRefusal, runJob } from '../../lib/child-process.ts'
import { createSemaphore } from '../../lib/semaphore.ts'
import { type FormKind, FormResult, type FormValues } from './form.ts'

const ENTRY = new URL('./form-process.ts', import.meta.url)
const LIMITS = { heapMegabytes: 512, deadlineMs: 30_000 }
const AT_ONCE = 2
const MAX_WAITING = 50

export interface Forms {
  /** Reads a form and, with values that fit, fills it. Throws `JobRefusal` in words for the model. */
  fill(
    kind: FormKind,
    bytes: Uint8Array,
    values: FormValues,
    signal: AbortSignal,
  ): Promise<FormResult>
}

export function createForms(): Forms {
  const semaphore = createSemaphore(AT_ONCE, MAX_WAITING)
  return {
    async fill(kind, bytes, values, signal) {
      const job = { kind, bytes, values }
      try {
        return FormResult.parse(
          await semaphore.run(() => runJob(ENTRY, job, LIMITS, signal), signal),
        )
      } catch (error) {
        if (!(error instanceof JobExhausted)) throw error
        throw new JobRefusal(`Reading the form ${error.message}`)
      }
    },
  }
}
