import { describe, expect, it } from 'vitest'
import { freeYoungMemory } from '../../src/lib/free-young-memory.ts'

const PIECE = 2 ** 20
const PIECES = 40

/** Bytes of buffers that are held, or wait to be collected. */
const held = () => process.memoryUsage().arrayBuffers

function waste(): void {
  for (let piece = 0; piece < PIECES; piece++) new Uint8Array(PIECE).fill(piece)
}

describe('Freeing what is young', () => {
  it('gives back the memory of buffers that nobody holds', () => {
    freeYoungMemory()
    const before = held()
    waste()
    freeYoungMemory()
    expect(held() - before).toBeLessThan(4 * PIECE)
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
