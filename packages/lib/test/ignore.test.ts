import { ignore } from '@agent-server/lib/ignore.ts'
import { describe, expect, it } from 'vitest'

describe('A promise whose failure is ignored', () => {
  it('resolves to its result', async () => {
    expect(await ignore(Promise.resolve('result'), 'not needed')).toBe('result')
  })

  it('resolves to undefined if it fails, and says why that does not matter', async () => {
    const lines: unknown[] = []
    const log = { debug: (...line: unknown[]) => void lines.push(line) }
    const error = new Error('failed')
    expect(await ignore(Promise.reject(error), 'not needed', log)).toBeUndefined()
    expect(lines).toEqual([[{ err: error }, 'not needed']])
  })
})
