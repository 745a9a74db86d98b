import { runJob } from '../../lib/child-process.ts'
import { createSemaphore } from '../../lib/semaphore.ts'
import { type FormKind, FormResult, type FormValues } from './form.ts'

const FILLING = {
  task: 'Reading the form',
  ...{ module: new URL('./fill.ts', import.meta.url), run: 'fillForm' },
  ...{ heapMegabytes: 512, residentMegabytes: 1_024, deadlineMs: 30_000 },
}
const AT_ONCE = 2
const MAX_WAITING = 50

export type Forms = ReturnType<typeof createForms>

/** Fills forms, a few at a time, each in a process of its own: somebody else has made them. */
export function createForms() {
  const semaphore = createSemaphore(AT_ONCE, MAX_WAITING)
  return {
    /** Reads a form and, with values that fit, fills it. Throws `JobRefusal` in words for the model. */
    async fill(
      kind: FormKind,
      bytes: Uint8Array,
      values: FormValues,
      signal: AbortSignal,
    ): Promise<FormResult> {
      const fill = () => runJob(FILLING, { kind, bytes, values }, signal)
      return FormResult.parse(await semaphore.run(fill, signal))
    },
  }
}
