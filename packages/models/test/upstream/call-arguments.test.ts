import { describe, expect, it } from 'vitest'
import { processorMs } from '../../../../test/support/processor-time.ts'
import { withMoreArguments } from '../../src/upstream/call-arguments.ts'

const joined = (deltas: readonly string[]) => deltas.reduce(withMoreArguments, '')

describe('The arguments of a call', () => {
  it.each([
    ['no arguments, then the real ones', ['{}', '{"a":', '1}']],
    ['the whole once more', ['{"a":', '1}', '{"a":1}']],
    ['all so far with each delta', ['{"a', '{"a":', '{"a":1}']],
    ['deltas alone', ['{', '"a":', '1}']],
  ])('are read from %s', (_, deltas) => {
    expect(joined(deltas)).toBe('{"a":1}')
  })

  it('may hold objects in a list', () => {
    expect(joined(['{"a":[', '{}', ',', '{"b":', '{}', '}]}'])).toBe('{"a":[{},{"b":{}}]}')
  })

  it.each(['{}', '{ab}'])('cost little in 64,000 deltas of %s', (delta) => {
    const deltas = Array.from({ length: 64_000 }, () => delta)
    const begun = processorMs()
    const written = joined(['{"a":"', ...deltas])
    expect(processorMs() - begun).toBeLessThan(500)
    expect(written).toHaveLength(6 + 64_000 * delta.length)
  })
})
