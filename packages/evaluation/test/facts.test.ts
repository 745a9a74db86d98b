import { describe, expect, it } from 'vitest'
import { containsAny } from '../src/evaluate-answers.ts'

describe('A fact', () => {
  it.each([
    ['It takes **63 bytes** [1].', ['63 bytes'], true],
    ['It takes 163 bytes.', ['63 bytes'], false],
    ['Use `pg_dump -Fc`.', ['PG_DUMP -fc'], true],
    ['at\n nine', ['ten', 'at nine'], true],
    ['C++ (1998)', ['c++'], true],
    ['Nothing.', [], false],
  ])('is found as whole words: %j %j', (text, facts, found) => {
    expect(containsAny(text, facts)).toBe(found)
  })
})
