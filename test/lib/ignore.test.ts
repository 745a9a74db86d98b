import { describe, expect, it } from 'vitest'
import { ignore } from '../../src/lib/ignore.ts'

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
