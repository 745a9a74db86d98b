import { describe, expect, it } from 'vitest'
import { createToolCallAccumulator } from '../../src/completions/tool-calls.ts'

interface Entry {
  index?: number
  id?: string | null
  name?: string | null
  arguments?: unknown
  extra_content?: unknown
}

describe('fragments of tool calls', () => {
  it.each<[string, Entry[], [string, string][]]>([
    [
      'interleaved by index',
      [
        { index: 0, id: 'a', name: 'one', arguments: '{"x"' },
        { index: 1, id: 'b', name: 'two', arguments: '{"y"' },
        { index: 0, arguments: ':1}' },
        { index: 1, arguments: ':2}' },
      ],
      [
        ['one', '{"x":1}'],
        ['two', '{"y":2}'],
      ],
    ],
    [
      'without index, told apart by id',
      [
        { id: 'a', name: 'one', arguments: '{"x"' },
        { id: 'b', name: 'two', arguments: '{"y"' },
        { id: 'a', arguments: ':1}' },
        { arguments: ':2}' },
      ],
      [
        ['one', '{"x":1}'],
        ['two', '{"y":2}'],
      ],
    ],
    [
      'with a repeated index, later fragments go to the newest call',
      [
        { index: 0, id: 'a', name: 'one', arguments: '{}' },
        { index: 0, id: 'b', name: 'two', arguments: '{"y"' },
        { index: 0, arguments: ':2}' },
      ],
      [
        ['one', '{}'],
        ['two', '{"y":2}'],
      ],
    ],
    [
      'with a repeated index and an empty id',
      [
        { index: 0, id: 'a', name: 'one', arguments: '' },
        { index: 0, id: '', name: null, arguments: '{"x":1}' },
        { index: 0, id: 'b', name: 'one', arguments: '' },
        { index: 0, id: '', arguments: '{"x":2}' },
      ],
      [
        ['one', '{"x":1}'],
        ['one', '{"x":2}'],
      ],
    ],
    [
      'with name and id in every fragment',
      [
        { index: 0, id: 'a', name: 'one', arguments: '' },
        { index: 0, id: 'a', name: 'one', arguments: '{"x"' },
        { index: 0, id: 'a', name: 'one', arguments: ':1}' },
      ],
      [['one', '{"x":1}']],
    ],
    [
      'with name and another id in every fragment',
      [
        { index: 0, id: 'a', name: 'one', arguments: '{"x"' },
        { index: 0, id: 'b', name: 'one', arguments: ':' },
        { index: 0, id: 'c', name: 'one', arguments: '1}' },
      ],
      [['one', '{"x":1}']],
    ],
    [
      'whole calls to one tool, without index and id',
      [
        { name: 'one', arguments: '{"x":1}' },
        { name: 'one', arguments: '{"x":2}' },
      ],
      [
        ['one', '{"x":1}'],
        ['one', '{"x":2}'],
      ],
    ],
    [
      'arguments as an object',
      [{ index: 0, id: 'a', name: 'one', arguments: { x: 1 } }],
      [['one', '{"x":1}']],
    ],
    ['no arguments at all', [{ index: 0, id: 'a', name: 'one', arguments: null }], [['one', '']]],
    [
      'indexes that begin at one',
      [
        { index: 1, id: 'a', name: 'one' },
        { index: 1, arguments: '{}' },
      ],
      [['one', '{}']],
    ],
    ['entries that say nothing', [{ index: 0 }, { index: 0, id: 'a' }, {}], []],
  ])('%s', (_case, entries, expected) => {
    const accumulator = createToolCallAccumulator()
    for (const entry of entries) accumulator.add(toWire(entry))
    expect(accumulator.calls().map(({ name, arguments: written }) => [name, written])).toEqual(
      expected,
    )
  })

  it('keep the first id, and make one where there is none', () => {
    const accumulator = createToolCallAccumulator()
    accumulator.add(toWire({ index: 0, id: 'a', name: 'one' }))
    accumulator.add(toWire({ index: 0, id: 'z', arguments: '{}' }))
    accumulator.add(toWire({ index: 1, name: 'two', arguments: '{}' }))
    const [first, second] = accumulator.calls().map(({ callId }) => callId)
    expect(first).toBe('a')
    expect(second).toMatch(/^call_[\w-]{8,}$/)
  })

  it('keep what the provider attached', () => {
    const accumulator = createToolCallAccumulator()
    accumulator.add(toWire({ id: 'a', name: 'one', arguments: '{}' }))
    accumulator.add({ id: 'a', extra_content: { google: { thought_signature: 's' } } })
    const attachment = { google: { thought_signature: 's' } }
    expect(accumulator.calls()).toEqual([{ callId: 'a', name: 'one', arguments: '{}', attachment }])
  })

  it.each([[null], ['text'], [7], [[]], [{ function: 'text' }], [{ index: '0', function: {} }]])(
    '%j is passed over',
    (entry) => {
      const accumulator = createToolCallAccumulator()
      accumulator.add(entry)
      expect(accumulator.calls()).toEqual([])
    },
  )

  it('are bounded in number and in length', () => {
    const many = createToolCallAccumulator()
    for (let index = 0; index < 128; index += 1)
      many.add(toWire({ index, id: `${index}`, name: 'one' }))
    expect(() => many.add(toWire({ index: 128, id: 'x', name: 'one' }))).toThrow('unreadable')
    const long = createToolCallAccumulator()
    long.add(toWire({ index: 0, id: 'a', name: 'one', arguments: 'x'.repeat(1_000_000) }))
    expect(() => long.add(toWire({ index: 0, arguments: 'x' }))).toThrow('unreadable')
  })
})

function toWire({ name, arguments: written, ...rest }: Entry) {
  return { ...rest, type: 'function', function: { name, arguments: written } }
}
