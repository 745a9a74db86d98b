import { describe, expect, it } from 'vitest'
import { boundedText, filledText, toStorable } from '../../src/schemas/fields.ts'
import { issuesOf } from './issues-of.ts'

describe('text made storable', () => {
  it.each([
    ['plain text', 'abc', 'abc'],
    ['a NUL', 'a\u0000b', 'a b'],
    ['a lone high surrogate', 'a\ud800b', 'a\ufffdb'],
    ['a lone low surrogate', '\udc00', '\ufffd'],
    ['surrogates in the wrong order', '\udc00\ud800', '\ufffd\ufffd'],
    ['a pair of surrogates', '😀', '😀'],
    ['other control characters', '\u0001\t\r\n\u007f', '\u0001\t\r\n\u007f'],
    ['a byte order mark', '\ufeffa', '\ufeffa'],
    ['nothing', '', ''],
  ])('has %s as it should be', (_case, text, stored) => {
    expect(toStorable(text)).toBe(stored)
  })

  it('is as long as before, so that offsets hold', () => {
    const text = Array.from({ length: 0x1_0000 }, (_, unit) => String.fromCharCode(unit)).join('')
    const stored = toStorable(text)
    expect(stored).toHaveLength(text.length)
    expect(stored.isWellFormed()).toBe(true)
    expect(stored).not.toContain('\u0000')
  })

  it('survives UTF-8 unchanged', () => {
    const stored = toStorable('a\ud800\u0000b😀')
    expect(new TextDecoder().decode(new TextEncoder().encode(stored))).toBe(stored)
  })
})

describe('bounded text', () => {
  it.each([
    ['', 0],
    ['abc', 3],
    ['😀', 2],
  ])('fits with %j in %i code units', (text, maximum) => {
    expect(boundedText(maximum).parse(text)).toBe(text)
  })

  it('is refused one code unit past its bound', () => {
    expect(issuesOf(boundedText(3), 'abcd')).toEqual([
      expect.stringContaining('at most 3 characters'),
    ])
  })

  it('is made storable', () => {
    expect(boundedText(3).parse('a\u0000\ud800')).toBe('a \ufffd')
  })
})

describe('filled text', () => {
  it.each([
    ['nothing', ''],
    ['blanks', '  \t\n'],
    ['a no-break space', '\u00a0\u3000'],
    ['NULs', '\u0000\u0000'],
  ])('is refused when it is %s', (_case, text) => {
    expect(issuesOf(filledText(10), text)).toEqual([': must not be empty'])
  })

  it('keeps the white space around it', () => {
    expect(filledText(10).parse('  a \n')).toBe('  a \n')
  })
})
