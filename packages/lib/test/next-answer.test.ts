import { setImmediate } from 'node:timers/promises'
import { createNextAnswer } from '@agent-server/lib/next-answer.ts'
import { describe, expect, it } from 'vitest'

const broken = new Error('broken')

describe('The next answer', () => {
  it('resolves only the pending wait', async () => {
    const answers = createNextAnswer<number>()
    expect(answers.give(1)).toBe(false)
    const first = answers.next()
    expect(answers.give(2)).toBe(true)
    expect(answers.give(3)).toBe(false)
    await expect(first).resolves.toBe(2)
  })

  it('may fail, and another be waited for', async () => {
    const answers = createNextAnswer<number>()
    const first = answers.next()
    answers.fail(broken)
    await expect(first).rejects.toBe(broken)
    const second = answers.next()
    answers.give(1)
    await expect(second).resolves.toBe(1)
  })

  it('rejects pending and later waits with the first error', async () => {
    const answers = createNextAnswer<number>()
    const asked = answers.next()
    answers.end(broken)
    answers.end(new Error('a consequence'))
    await expect(asked).rejects.toBe(broken)
    expect(() => answers.next()).toThrow(broken)
  })

  it('leaves no rejection unhandled if the end comes before anyone waits', async () => {
    const unhandled: unknown[] = []
    const note = (reason: unknown) => unhandled.push(reason)
    process.on('unhandledRejection', note)
    const answers = createNextAnswer<number>()
    const asked = answers.next()
    answers.end(broken)
    await setImmediate()
    await setImmediate()
    process.off('unhandledRejection', note)
    expect(unhandled).toEqual([])
    await expect(asked).rejects.toBe(broken)
  })
})
