import { keepTrying } from '@agent-server/lib/keep-trying.ts'
import { expect, it, vi } from 'vitest'

const away = new Error('away')
const onFailure = vi.fn()
const never = new AbortController().signal

it('repeats failing work until it succeeds, and reports it once', async () => {
  const work = vi
    .fn(async () => 'stored')
    .mockRejectedValueOnce(away)
    .mockRejectedValueOnce(away)
  await expect(keepTrying(work, onFailure, never)).resolves.toBe('stored')
  expect(work).toHaveBeenCalledTimes(3)
  expect(onFailure.mock.calls).toEqual([[away]])
})

it('tries once more immediately when it is stopped, and then throws', async () => {
  const closing = new AbortController()
  const work = vi.fn(async () => {
    throw away
  })
  const trying = keepTrying(work, () => closing.abort(), closing.signal)
  await expect(trying).rejects.toBe(away)
  expect(work).toHaveBeenCalledTimes(2)
})
