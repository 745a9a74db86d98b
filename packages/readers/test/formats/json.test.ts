import { describe, expect, it } from 'vitest'
import { extractJson } from '../../src/formats/json.ts'

const textOf = (value: unknown) => extractJson(JSON.stringify(value)).text
const linesOf = (value: unknown) => textOf(value).trim().split(/\n+/)

describe('A record in a list', () => {
  it('is a line, with the path of each value before it', () => {
    const tern = { name: 'tern', beak: { length: 3.2, colour: { tip: 'black' } } }
    expect(linesOf([tern, { name: 'gull' }])).toEqual([
      '- name: tern; beak.length: 3.2; beak.colour.tip: black',
      '- name: gull',
    ])
  })

  it.each([
    [
      'simple values, side by side',
      { food: ['eel', 'shrimp', 3, true] },
      '- food: eel, shrimp, 3, true',
    ],
    ['records, one after the other', { eggs: [{ n: 1 }, { n: 2 }] }, '- eggs.n: 1; eggs.n: 2'],
    ['lists', { grid: [[1, 2], [3]] }, '- grid: 1, 2; grid: 3'],
    ['nothing', { a: 1, empty: [], none: null, hollow: {} }, '- a: 1'],
  ])('may hold %s', (_case, record, line) => expect(linesOf([record])).toEqual([line]))

  it('may be a value alone', () => {
    expect(linesOf(['tern', 7, false, null])).toEqual(['- tern', '- 7', '- false'])
  })

  it('keeps every digit of a long number', () => {
    const source = '[{"id":12345678901234567890,"small":1.5,"text":"9007199254740993"}]'
    expect(extractJson(source).text).toBe(
      '- id: 12345678901234567890; small: 1.5; text: 9007199254740993\n',
    )
  })

  it('keeps to one line', () => {
    expect(linesOf([{ note: 'two\nlines' }])).toEqual(['- note: two lines'])
  })
})

describe('An object', () => {
  it('has its plain values first, then a heading for each that holds more', () => {
    const text = textOf({
      birds: [{ name: 'tern' }],
      title: 'Coast',
      place: { sea: 'North' },
      n: 1,
    })
    expect(text).toBe(
      'title: Coast\n\nn: 1\n\n\n## birds\n\n- name: tern\n\n## place\n\nsea: North\n\n',
    )
  })

  it('may be empty', () => expect(textOf({})).toBe(''))
})

it.each([
  ['a string', 'Just a string', 'Just a string\n'],
  ['a number', 42, '42\n'],
])('A document may be %s', (_case, value, text) => expect(textOf(value)).toBe(text))

describe('Lines of records', () => {
  it('are read like a list', () => {
    expect(extractJson('{"a":1}\n\n  {"a":2}\n').text).toBe('- a: 1\n- a: 2\n')
  })

  it('are kept as they are where one is broken', () => {
    const source = '{"a":1}\n{"a":'
    expect(extractJson(source).text).toBe('```json\n{"a":1}\n{"a":\n```\n')
  })
})

it('A text that is no JSON at all is unchanged', () => {
  expect(extractJson('{ name: "unquoted" }').text).toContain('{ name: "unquoted" }')
})

it('A record may nest a hundred levels deep', () => {
  const record = `${'{"a":'.repeat(100)}1${'}'.repeat(100)}`
  expect(extractJson(`[${record}]`).text).toBe(`- ${'a.'.repeat(99)}a: 1\n`)
})
