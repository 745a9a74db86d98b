import { describe, expect, it, vi } from 'vitest'
import { createChunkKeyAllocator } from '../src/chunk-keys.ts'

function createCounter() {
  let next = 1
  return vi.fn(async (count: number) => {
    next += count
    return next - count
  })
}

describe('A block of chunk keys', () => {
  it('is reserved once for many keys', async () => {
    const reserve = createCounter()
    const { take } = createChunkKeyAllocator(reserve, { keysPerBlock: 10 })
    expect([await take(4), await take(4)]).toEqual([1, 5])
    expect(reserve).toHaveBeenCalledTimes(1)
  })

  it('is discarded if it has too few consecutive keys', async () => {
    const { take } = createChunkKeyAllocator(createCounter(), { keysPerBlock: 10 })
    expect([await take(7), await take(4), await take(6)]).toEqual([1, 11, 15])
  })

  it('is bypassed when more keys are requested than a block has', async () => {
    const { take } = createChunkKeyAllocator(createCounter(), { keysPerBlock: 10 })
    expect([await take(1), await take(25), await take(1)]).toEqual([1, 11, 2])
  })

  it('is not used once it is stale', async () => {
    const reserve = createCounter()
    const { take } = createChunkKeyAllocator(reserve, { keysPerBlock: 10, freshMs: 60_000 })
    const now = vi.spyOn(performance, 'now')
    now.mockReturnValue(0)
    expect(await take(1)).toBe(1)
    now.mockReturnValue(59_999)
    expect(await take(1)).toBe(2)
    now.mockReturnValue(60_000)
    expect(await take(1)).toBe(11)
    now.mockRestore()
  })

  it('is not used any more once it was dropped, nor where another cannot be had at first', async () => {
    const reserve = createCounter()
    const { take, drop } = createChunkKeyAllocator(reserve, { keysPerBlock: 10 })
    expect(await take(1)).toBe(1)
    drop()
    reserve.mockRejectedValueOnce(new Error('away'))
    await expect(take(1)).rejects.toThrow('away')
    expect(await take(1)).toBe(11)
  })

  it('is requested again after a failure', async () => {
    const reserve = createCounter()
    reserve.mockRejectedValueOnce(new Error('away'))
    const { take } = createChunkKeyAllocator(reserve, { keysPerBlock: 10 })
    await expect(take(1)).rejects.toThrow('away')
    expect(await take(1)).toBe(1)
  })

  it('is shared by concurrent callers, none of whom get the same key', async () => {
    const { take } = createChunkKeyAllocator(createCounter(), { keysPerBlock: 16 })
    const firsts = await Promise.all(Array.from({ length: 40 }, () => take(3)))
    const keys = firsts.flatMap((first) => [first, first + 1, first + 2])
    expect(new Set(keys).size).toBe(120)
  })
})
