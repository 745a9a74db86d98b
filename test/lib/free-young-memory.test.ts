import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { freeAllMemory, freeYoungMemory } from '../../src/lib/free-young-memory.ts'

const PIECE = 2 ** 20
const PIECES = 40

/** Bytes of buffers that are held, or wait to be collected. */
const held = () => process.memoryUsage().arrayBuffers

function waste(): void {
  for (let piece = 0; piece < PIECES; piece++) new Uint8Array(PIECE).fill(piece)
}

describe('Freeing what is young', () => {
  it('gives back the memory of buffers that nobody holds', async () => {
    freeYoungMemory()
    const before = held()
    waste()
    freeYoungMemory()
    // Counted off by a thread of V8, which may have to wait for a core.
    await expect.poll(() => held() - before, { timeout: 2_000 }).toBeLessThan(4 * PIECE)
  })

  it('leaves what is held', () => {
    const kept = new Uint8Array(PIECE).fill(7)
    freeYoungMemory()
    expect(kept.every((byte) => byte === 7)).toBe(true)
  })

  it('shows nobody else how to collect', () => {
    freeYoungMemory()
    expect(Object.hasOwn(globalThis, 'gc')).toBe(false)
  })
})

describe('Freeing all', () => {
  it('frees what has grown old and is held no more', async () => {
    const held = [{}]
    const old = new WeakRef(held[0] ?? {})
    // What a reference was made to is held until the end of the turn.
    await nextTurn()
    freeYoungMemory()
    freeYoungMemory()
    held.length = 0
    freeAllMemory()
    expect(old.deref()).toBeUndefined()
  })
})
