import { getEventListeners } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { startDeadline } from '@agent-server/lib/abort.ts'
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
