import { useSignal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { fieldOf, messageOf } from '../api.ts'
import { Button } from '../parts/controls.tsx'
import { Status } from '../parts/notes.tsx'

/**
 * Something that takes a while, once at a time. What was found belongs to `subject`, the choice that it was found for:
 * with another one it is gone, and what is still on its way is cancelled.
 */
export function useWork<Result>(subject?: string) {
  const result = useSignal<Result | undefined>(undefined)
  const failure = useSignal('')
  /** The field that the failure is about, where it is about one. */
  const failedField = useSignal('')
  const isBusy = useSignal(false)
  const running = useRef<AbortController | undefined>(undefined)
  const cancel = () => {
    running.current?.abort()
    running.current = undefined
    isBusy.value = false
  }
  const clear = () => {
    cancel()
    result.value = undefined
    failure.value = ''
    failedField.value = ''
  }
  useLayoutEffect(() => clear, [subject])
  const run = async (work: (signal: AbortSignal) => PromiseLike<Result>) => {
    clear()
    const controller = new AbortController()
    running.current = controller
    isBusy.value = true
    try {
      const value = await work(controller.signal)
      if (running.current === controller) result.value = value
    } catch (error) {
      if (running.current === controller) {
        failure.value = messageOf(error)
        failedField.value = fieldOf(error)
      }
    }
    if (running.current === controller) cancel()
  }
  return { result, failure, failedField, isBusy, run, cancel }
}

/** Says that work is going on, and offers to cancel it. */
export function Working({
  work,
  words,
  about,
}: {
  work: Pick<ReturnType<typeof useWork>, 'isBusy' | 'cancel'>
  words: string
  /** What is cancelled, where it does not stand beside the button. */
  about?: string
}) {
  if (!work.isBusy.value) return null
  return (
    <>
      <Button icon="cancel" about={about} onClick={work.cancel}>
        Cancel
      </Button>
      <Status tone="busy">{words}</Status>
    </>
  )
}
