import { untilAborted } from './backoff.ts'

/** Work that whoever asks for it at the same time shares. Whoever leaves does not end what others wait for. */
export function createSharedWork<T>() {
  const underWay = new Map<string, Promise<T>>()

  return (key: string, begin: () => Promise<T>, signal: AbortSignal): Promise<T> => {
    const work = underWay.get(key) ?? begin()
    if (!underWay.has(key)) {
      underWay.set(key, work)
      const end = () => underWay.delete(key)
      work.then(end, end)
    }
    return untilAborted(work, signal)
  }
}
