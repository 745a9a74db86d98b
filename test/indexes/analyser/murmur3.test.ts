import { describe, expect, it } from 'vitest'
import { murmur3 } from '../../../src/indexes/analyser/murmur3.ts'

describe('The hash of terms', () => {
  it.each([
    ['', 0],
    ['test', 0xba6bd213],
    ['hello', 0x248bfa47],
    ['hello, world', 0x149bbb7f],
    ['The quick brown fox jumps over the lazy dog', 0x2e4ff723],
    ['aaa', 0xb4d05fb7],
    ['ππππππππ', 0xec72b6e8],
  ])('is MurmurHash3 x86 32-bit of the UTF-8 bytes, seed 0: %j', (text, hash) => {
    expect(murmur3(text).toString(16)).toBe(hash.toString(16))
  })

  it('takes text of any length', () => {
    expect(murmur3('a'.repeat(1_000_000))).not.toBe(murmur3('a'.repeat(999_999)))
  })
})
