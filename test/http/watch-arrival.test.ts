import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { watchArrival } from '../../src/http/request-body.ts'
import { CallerLeft } from '../../src/http/shutdown.ts'

/** In milliseconds. */
const SILENCE = 100

function watched({ flowing }: { flowing: boolean }) {
  const message = new IncomingMessage(new Socket())
  const failed = Promise.withResolvers<Error>()
  const failures: Error[] = []
  const end = watchArrival(
    message,
    (error) => {
      failures.push(error)
      failed.resolve(error)
    },
    SILENCE,
  )
  onTestFinished(end)
  if (flowing) message.resume()
  return { message, failures, failed: failed.promise, end }
}

describe('A request that is arriving', () => {
  it('is given up when nothing comes for too long', async () => {
    const { failed } = watched({ flowing: true })
    expect(await failed).toMatchObject({ code: 'request_timeout' })
  })

  it('is not given up while it comes, however slowly', async () => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const { message, failures } = watched({ flowing: true })
    for (let i = 0; i < 6; i++) {
      message.push('x')
      await vi.advanceTimersByTimeAsync(SILENCE - 1)
    }
    expect(failures).toEqual([])
  })

  it('is not given up because its reader is slow', async () => {
    const { message, failures } = watched({ flowing: false })
    message.pause()
    await pause(SILENCE * 1.5)
    expect(failures).toEqual([])
  })

  it('fails when its sender hangs up', async () => {
    const { message, failed } = watched({ flowing: true })
    message.destroy()
    expect(await failed).toBeInstanceOf(CallerLeft)
  })

  it('is whole, and then may be closed', async () => {
    const { message, failures } = watched({ flowing: true })
    message.complete = true
    message.destroy()
    await pause(SILENCE / 2)
    expect(failures).toEqual([])
  })

  it('is watched no longer than wanted', async () => {
    const { message, failures, end } = watched({ flowing: true })
    end()
    message.destroy()
    await pause(SILENCE * 1.5)
    expect(failures).toEqual([])
  })
})
