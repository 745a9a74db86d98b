import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { messageOf } from './api.ts'

/** The pause while a server does not respond; longer pauses stay as they are. */
const MAX_BACKOFF_MS = 10_000

/**
 * Asks again and again while the page is in sight, one question at a time, and at once when `subject` is another; keeps
 * the last answer when one fails.
 */
export function usePolled<Value>(ask: () => Promise<Value>, everyMs: number, subject?: string) {
  const value = useSignal<Value | undefined>(undefined)
  const failure = useSignal('')
  const refresh = async () => {
    try {
      value.value = await ask()
      failure.value = ''
    } catch (error) {
      failure.value = messageOf(error)
    }
  }
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    let isOver = false
    let failures = 0
    const turn = async () => {
      if (!document.hidden) await refresh()
      failures = failure.value === '' ? 0 : failures + 1
      const backoff = Math.min(everyMs * 2 ** failures, MAX_BACKOFF_MS)
      if (!isOver) timer = setTimeout(() => void turn(), Math.max(everyMs, backoff))
    }
    void turn()
    return () => {
      isOver = true
      clearTimeout(timer)
    }
  }, [subject])
  return { value, failure, refresh }
}
