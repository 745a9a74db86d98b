import { describe, expect, it } from 'vitest'
import { AppError } from '../../../src/errors.ts'
import { untilAvailable } from '../../../src/services/ingestion/retry-policy.ts'
import { silent } from './ingestion-parts.ts'

const never = new AbortController().signal

describe('Work that waits for the parts it needs', () => {
  it.each(['index_unavailable', 'store_unavailable'] as const)(
    'is done again after %s',
    async (code) => {
      let calls = 0
      const work = async () => {
        if (++calls < 3) throw new AppError(code, 'away')
        return calls
      }
      expect(await untilAvailable(work, silent, never)).toBe(3)
    },
  )

  it('ends with whatever else goes wrong', async () => {
    const wrong = new Error('does not fit')
    await expect(untilAvailable(() => Promise.reject(wrong), silent, never)).rejects.toBe(wrong)
  })

  it('ends when it is told to, also while it waits', async () => {
    const stopping = new AbortController()
    const away = () => Promise.reject(new AppError('index_unavailable', 'away'))
    const waiting = untilAvailable(away, silent, stopping.signal)
    const reason = new Error('stopped')
    stopping.abort(reason)
    await expect(waiting).rejects.toBe(reason)
  })
})
