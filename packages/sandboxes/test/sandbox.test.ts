import { describe, expect, it } from 'vitest'
import { SandboxLimits } from '../src/limits.ts'
import { isFileName } from '../src/sandbox.ts'

describe('The name of a file', () => {
  it.each(['a.txt', 'deep/er/ü.csv', 'with space.png', 'a..b', 'x'.repeat(200)])(
    'may be %s',
    (name) => expect(isFileName(name)).toBe(true),
  )

  it.each([
    ['empty', ''],
    ['absolute', '/etc/passwd'],
    ['leading out', '../up'],
    ['leading out later', 'a/../../up'],
    ['hidden', '.profile'],
    ['in a hidden directory', '.ssh/key'],
    ['a directory', 'a/'],
    ['without a step', 'a//b'],
    ['two lines', 'a\nb'],
    ['ended early', 'a\0b'],
    ['turned around', 'a\u202eb'],
    ['for another system', 'a\\b'],
    ['too long', 'ü'.repeat(101)],
  ])('is not %s', (_case, name) => expect(isFileName(name)).toBe(false))
})

describe('The limits', () => {
  it('have documented defaults', () => {
    expect(SandboxLimits.parse({})).toEqual({
      seconds: 30,
      cpus: 1,
      memoryMegabytes: 256,
      processes: 64,
      fileMegabytes: 64,
      outputKilobytes: 64,
    })
  })

  it.each(Object.keys(SandboxLimits.shape))('have bounds: %s', (name) => {
    expect(SandboxLimits.safeParse({ [name]: 0 }).success).toBe(false)
    expect(SandboxLimits.safeParse({ [name]: 1e9 }).success).toBe(false)
  })
})
