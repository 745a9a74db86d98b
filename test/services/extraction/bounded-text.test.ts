import { describe, expect, it } from 'vitest'
import { createBoundedText } from '../../../src/services/extraction/extracted.ts'

describe('A bounded text', () => {
  it('is what was added, in order', () => {
    const text = createBoundedText()
    expect([text.length, text.toString()]).toEqual([0, ''])
    text.add('one ')
    text.add('')
    text.add('two')
    expect([text.length, text.toString()]).toEqual([7, 'one two'])
  })

  it('may be as long as the most, and no longer', () => {
    const text = createBoundedText(5)
    text.add('12345')
    expect(text.toString()).toBe('12345')
    expect(() => text.add('6')).toThrow(expect.objectContaining({ code: 'text_too_long' }))
  })

  it('holds ten million characters at most, and says so', () => {
    const text = createBoundedText()
    const million = 'x'.repeat(1_000_000)
    for (let i = 0; i < 10; i++) text.add(million)
    expect(() => text.add('x')).toThrow(/more than 10 million characters/)
  })
})
