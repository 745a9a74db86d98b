import { useSignal } from '@preact/signals'
import { messageOf } from '../api.ts'

/** Something that takes a while, once at a time. */
export function useWork<Result>() {
  const result = useSignal<Result | undefined>(undefined)
  const failure = useSignal('')
  const isBusy = useSignal(false)
  const run = async (work: () => PromiseLike<Result>) => {
    isBusy.value = true
    failure.value = ''
    result.value = undefined
    try {
      result.value = await work()
    } catch (error) {
      failure.value = messageOf(error)
    }
    isBusy.value = false
  }
  return { result, failure, isBusy, run }
}
