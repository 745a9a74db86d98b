import { describe, expect, it } from 'vitest'
import { createQuota } from '../../../src/sandboxes/embedded/file-system.ts'

describe('A quota', () => {
  it('is measured only once it seems used up', () => {
    let measured = 0
    const quota = createQuota({ bytes: 100, nodes: 10 }, () => {
      measured += 1
      return { bytes: 50, nodes: 1 }
    })
    for (let i = 0; i < 10; i += 1) expect(quota.take(10, 0)).toBe(true)
    expect(measured).toBe(0)
    // Half of what was taken has been given back meanwhile.
    expect(quota.take(50, 0)).toBe(true)
    expect(measured).toBe(1)
  })

  it('refuses what there is no room for, and counts nothing of it', () => {
    const quota = createQuota({ bytes: 100, nodes: 2 }, () => ({ bytes: 0, nodes: 0 }))
    expect(quota.take(101, 0)).toBe(false)
    expect(quota.take(0, 3)).toBe(false)
    expect(quota.take(100, 2)).toBe(true)
  })
})
