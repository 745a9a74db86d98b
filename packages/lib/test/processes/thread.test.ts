import { AppError } from '@agent-server/lib/errors.ts'
import { startThread, type ThreadOptions } from '@agent-server/lib/processes/thread.ts'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { AnsweringMethods } from './answering-thread.ts'

const ANSWERING_THREAD = new URL('./answering-thread.ts', import.meta.url)

function start(options: ThreadOptions = {}) {
  const thread = startThread<AnsweringMethods>(ANSWERING_THREAD, options)
  onTestFinished(() => thread.terminate())
  return thread
}

/** The order in which the calls are answered. */
async function orderOf(calls: readonly Promise<number>[]): Promise<number[]> {
  const order: number[] = []
  await Promise.all(calls.map(async (call) => order.push(await call)))
  return order
}

describe('A thread', () => {
  it('answers calls one after another, each after the one before it', async () => {
    const { call } = start()
    expect(await orderOf([call('wait', 50), call('wait', 1)])).toEqual([50, 1])
  })

  it('lets calls overlap if configured', async () => {
    const { call } = start({ data: 'overlapping' })
    expect(await orderOf([call('wait', 200), call('wait', 1)])).toEqual([1, 200])
  })

  it('moves buffers both ways', async () => {
    const { call } = start()
    expect(await call('give', 3)).toEqual(Uint8Array.of(1, 1, 1))
    const bytes = new Uint8Array(5)
    expect(await call('size', bytes, [bytes.buffer])).toBe(5)
    expect(bytes.length).toBe(0)
  })

  it('passes on errors: those for clients unchanged, others with their message', async () => {
    const { call } = start()
    const refused = await call('refuse', undefined).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(AppError)
    expect(refused).toMatchObject({
      code: 'queue_full',
      message: 'Too many',
      param: 'text',
      retryAfter: 3,
    })
    await expect(call('fail', undefined)).rejects.toThrow(new TypeError('broken'))
    expect(await call('wait', 1)).toBe(1)
  })

  it('sends its own messages before the answer', async () => {
    const notices: unknown[] = []
    const { call } = start({ onNotice: (notice) => notices.push(notice) })
    await call('tell', 'news')
    expect(notices).toEqual([{ message: 'news', fields: { from: 'thread' } }])
  })

  it('rejects pending and later calls when it crashes, and reports the crash once', async () => {
    const crashes: string[] = []
    const { call } = start({ onCrash: ({ message }) => crashes.push(message) })
    const calls = await Promise.allSettled([call('crash', undefined), call('wait', 1)])
    expect(calls.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    await expect(call('wait', 1)).rejects.toThrow('crashed')
    expect(crashes).toEqual(['crashed'])
  })

  it('that is terminated rejects its calls, and that is no crash', async () => {
    const crashes: Error[] = []
    const thread = start({ onCrash: (error) => crashes.push(error) })
    await thread.call('wait', 1)
    const call = thread.call('wait', 60_000)
    const rejected = expect(call).rejects.toThrow('ended')
    await thread.terminate()
    await rejected
    await expect(thread.call('wait', 1)).rejects.toThrow('ended')
    expect(crashes).toEqual([])
  })
})
