import { expect, it } from 'vitest'
import { processorMs } from '../../../../test/support/processor-time.ts'
import { mergeRoles } from '../../src/upstream/merge-roles.ts'

it('Ten thousand questions in a row are merged within a second', () => {
  const messages = Array.from({ length: 10_000 }, () => ({
    role: 'user' as const,
    content: 'When?'.repeat(200),
  }))
  const began = processorMs()
  expect(mergeRoles(messages, { tools: true })).toHaveLength(1)
  expect(processorMs() - began).toBeLessThan(1_000)
})
