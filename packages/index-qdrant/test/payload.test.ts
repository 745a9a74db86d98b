import type { Labels } from '@agent-server/lib/labels.ts'
import { describe, expect, it } from 'vitest'
import { createRandom } from '../../../test/support/random.ts'
import { labelsOf } from '../../search/test/contracts/chunk-index.fixture.ts'
import {
  canBeBound,
  createPayloads,
  numberKey,
  orderKey,
  orderOf,
  rangeKeysOf,
  toPayload,
  wordOf,
} from '../src/payload.ts'

describe('The payload of a point', () => {
  it('has a keyword for each value, the numbers, and the order of strings', () => {
    expect(toPayload(labelsOf({ year: 2026, on: true, language: 'en' }))).toEqual({
      is: ['~in=sdefault', '~open=sdefault', 'year=n2026', 'on=b1', 'language=sen'],
      number: { year: 2026 },
      order: { language: { a: expect.any(Number) } },
    })
  })

  it('has different keywords for different types and values, and one for equal numbers', () => {
    const words = [true, false, 1, 0, '1', '0', 'true', '', 0.1].map((value) => wordOf('x', value))
    expect(new Set(words).size).toBe(words.length)
    expect(wordOf('x', -0)).toBe(wordOf('x', 0))
    expect(wordOf('x', 1e21)).toBe(wordOf('x', Number('1000000000000000000000')))
  })

  it('is short however long its strings are, and distinguishes them', () => {
    const [one, other] = [wordOf('x', `${'a'.repeat(499)}b`), wordOf('x', `${'a'.repeat(499)}c`)]
    expect(one).not.toBe(other)
    expect(one.length).toBeLessThan(60)
    expect(orderOf('\u{1F44B}'.repeat(250))).toHaveLength(5)
  })

  it('has a keyword for each who may read its document: its own list, or else its collection', () => {
    const labels = { ...labelsOf(), collection: 'red', creator: 'ada' }
    const access = ['group:a', 'person:b']
    const wordsOf = (more: Partial<Labels>) =>
      toPayload({ ...labels, ...more }).is.filter((word) => word.startsWith('~'))
    expect(wordsOf({})).toEqual(['~in=sred', '~open=sred', '~by=sada'])
    expect(wordsOf({ access })).toEqual(['~in=sred', '~may=sgroup:a', '~may=sperson:b', '~by=sada'])
    expect(wordsOf({ access: [] })).toEqual(['~in=sred', '~by=sada'])
    expect(wordsOf({ conversation: 'c' })).toEqual(['~of=sc', '~by=sada'])
  })

  it('is computed once for all chunks of a document', () => {
    const labels = labelsOf({ year: 2026 })
    const payloadOf = createPayloads([labels, undefined, labels])
    expect(payloadOf(0)).toBe(payloadOf(2))
    expect(payloadOf(1)).toBeUndefined()
  })

  it('escapes the names of fields without collisions', () => {
    const fields = ['a.b', 'a-b', 'a-db', 'a--b', 'a-.b', 'a.-b', 'ab', 'a_b']
    const keys = fields.map((field) => numberKey(field))
    expect(new Set(keys).size).toBe(fields.length)
    for (const key of keys) expect(key).toMatch(/^number\.[\w-]+$/)
    expect(orderKey('a.b', 1)).toBe('order.a-db.b')
  })

  it('needs indexes for ranges of numbers and of dates', () => {
    const metadata = { year: 2026, on: true, author: 'Ada', day: '2026-11-21' }
    expect(rangeKeysOf(labelsOf(metadata))).toEqual(['number.year', 'order.day.a', 'order.day.b'])
    expect(rangeKeysOf(labelsOf({ at: '2026-11-21T14:00:00.000Z' }))).toHaveLength(5)
  })
})

describe('The order of strings', () => {
  /** Place by place, as a filter does; a place that there is not ends the comparison. */
  const compare = (value: string, bound: string) => {
    const held = orderOf(value)
    for (const [place, number] of orderOf(bound).entries()) {
      const difference = (held[place] ?? Number.NaN) - number
      if (difference !== 0) return Math.sign(difference)
    }
    return 0
  }
  const byBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b))

  it('is that of code points, for every accepted bound', () => {
    const random = createRandom(3)
    const letters = ['a', 'b', 'é', '\uFFFD', '\u{1F44B}', '0', ' ', '\u{10FFFF}', '\u0001']
    const text = () =>
      Array.from({ length: random.below(14) }, () => random.pick(letters) ?? '').join('')
    let compared = 0
    for (let turn = 0; turn < 20_000; turn++) {
      const bound = text()
      const value = random.next() < 0.5 ? text() : bound.slice(0, random.below(20)) + text()
      if (!canBeBound(bound) || !value.isWellFormed()) continue
      compared++
      expect([value, bound, compare(value, bound)]).toEqual([value, bound, byBytes(value, bound)])
    }
    expect(compared).toBeGreaterThan(10_000)
  })

  it('is exact in 53 bits, and never splits a character', () => {
    for (const number of orderOf('\u{10FFFF}'.repeat(8))) expect(number).toBeLessThan(2 ** 53)
    const cut = `${'x'.repeat(28)}\u{1F44B}`
    expect(orderOf(`${cut}y`)).toEqual(orderOf(cut))
  })

  it('accepts ISO times with fractions and offsets as bounds, and nothing longer than 29 bytes', () => {
    expect(canBeBound('2026-11-21T14:00:00.123+01:00')).toBe(true)
    expect(canBeBound('x'.repeat(30))).toBe(false)
    expect(canBeBound('é'.repeat(15))).toBe(false)
  })
})
