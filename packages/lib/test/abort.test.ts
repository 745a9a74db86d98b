import { getEventListeners } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { repeat, startDeadline } from '@agent-server/lib/abort.ts'
import { describe, expect, it, onTestFinished, vi } from 'vitest'

describe('A deadline', () => {
  it('ends when its time is up, with that reason', async () => {
    using deadline = startDeadline(5)
    await expect.poll(() => deadline.signal.aborted).toBe(true)
    expect(deadline.isOver).toBe(true)
    expect(deadline.signal.reason).toMatchObject({ name: 'TimeoutError' })
  })

  it('ends with another signal, and with that signal’s reason', () => {
    const caller = new AbortController()
    using deadline = startDeadline(60_000, undefined, caller.signal)
    const reason = new Error('gone')
    caller.abort(reason)
    expect(deadline.signal.reason).toBe(reason)
    expect(deadline.isOver).toBe(false)
    using late = startDeadline(60_000, caller.signal)
    expect(late.signal.reason).toBe(reason)
  })

  it('can be restarted until it ends', () => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    using deadline = startDeadline(400)
    vi.advanceTimersByTime(399)
    deadline.renew()
    vi.advanceTimersByTime(399)
    expect(deadline.isOver).toBe(false)
    vi.advanceTimersByTime(1)
    expect(deadline.isOver).toBe(true)
  })

  it('leaves no timer and listener behind when it is disposed of', async () => {
    const caller = new AbortController()
    const deadline = startDeadline(5, caller.signal)
    expect(getEventListeners(caller.signal, 'abort')).toHaveLength(1)
    deadline[Symbol.dispose]()
    expect(getEventListeners(caller.signal, 'abort')).toHaveLength(0)
    await delay(20)
    expect([deadline.signal.aborted, deadline.isOver]).toEqual([false, false])
  })
})

describe('Repeated work', () => {
  it('is done again and again, and ends without an error when told to', async () => {
    const stop = new AbortController()
    let times = 0
    const count = async () => {
      times += 1
    }
    const ended = repeat(count, { everyMs: 1 }, stop.signal)
    await expect.poll(() => times).toBeGreaterThan(2)
    stop.abort(new Error('enough'))
    await expect(ended).resolves.toBeUndefined()
  })

  it('ends while it waits, and while it works', async () => {
    for (const work of [async () => undefined, () => new Promise<never>(() => undefined)]) {
      const stop = new AbortController()
      const untilStopped = () => Promise.race([work(), rejection(stop.signal)])
      const ended = repeat(untilStopped, { everyMs: 60_000 }, stop.signal)
      await delay(5)
      stop.abort(new Error('enough'))
      await expect(ended).resolves.toBeUndefined()
    }
  })

  it('throws what the work throws', async () => {
    const failing = repeat(
      async () => {
        throw new Error('broken')
      },
      { everyMs: 1 },
      new AbortController().signal,
    )
    await expect(failing).rejects.toThrow('broken')
  })
})

function rejection(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason))
  })
}
