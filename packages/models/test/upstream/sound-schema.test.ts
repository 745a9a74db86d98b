import { describe, expect, it } from 'vitest'
import { soundSchema } from '../../src/upstream/sound-schema.ts'

const TEXT = { type: 'string' }

describe('The schema of a tool', () => {
  it.each([
    [
      'with `required` among its properties',
      { type: 'object', properties: { coin: TEXT, required: ['coin'] } },
      { type: 'object', properties: { coin: TEXT }, required: ['coin'] },
    ],
    [
      'with `required: true` at a property',
      { type: 'object', properties: { coin: { type: 'string', required: true }, day: TEXT } },
      { type: 'object', properties: { coin: TEXT, day: TEXT }, required: ['coin'] },
    ],
    [
      'with its own type and description among its properties',
      { properties: { type: 'object', description: 'A coin', coin: TEXT } },
      { type: 'object', description: 'A coin', properties: { coin: TEXT } },
    ],
    [
      'with the words of other languages for types',
      {
        type: 'object',
        properties: {
          n: { type: 'int' },
          x: { type: 'Float' },
          l: { type: 'list', items: { type: 'str' } },
        },
      },
      {
        type: 'object',
        properties: {
          n: { type: 'integer' },
          x: { type: 'number' },
          l: { type: 'array', items: TEXT },
        },
      },
    ],
    [
      'with a list that says nothing of its items',
      { type: 'object', properties: { all: { type: ['array', 'null'] } } },
      { type: 'object', properties: { all: { type: ['array', 'null'], items: {} } } },
    ],
    [
      'with a type that says nothing',
      {
        type: 'object',
        properties: { it: { type: 'any', description: 'It' }, b: { type: ['string', 'file'] } },
      },
      { type: 'object', properties: { it: { description: 'It' }, b: { type: ['string'] } } },
    ],
    [
      'with words in place of schemas',
      { type: 'object', properties: { coin: 'string', day: 'The day of the price' } },
      { type: 'object', properties: { coin: TEXT, day: { description: 'The day of the price' } } },
    ],
    [
      'with lists where there must be none, and none where there must be one',
      {
        type: 'object',
        properties: { a: { type: 'array', items: [TEXT] }, b: { enum: 'x' }, c: { anyOf: [] } },
      },
      { type: 'object', properties: { a: { type: 'array', items: TEXT }, b: {}, c: {} } },
    ],
    [
      'with references that lead nowhere',
      {
        type: 'object',
        $defs: { C: TEXT },
        properties: { a: { $ref: '#/$defs/C' }, b: { $ref: 'Coin' } },
      },
      { type: 'object', $defs: { C: TEXT }, properties: { a: { $ref: '#/$defs/C' }, b: {} } },
    ],
    [
      'with nulls',
      {
        type: 'object',
        title: null,
        properties: { a: { type: 'string', enum: null, default: null } },
      },
      { type: 'object', properties: { a: { type: 'string', default: null } } },
    ],
  ])('is mended: one %s', (_case, schema, expected) => {
    expect(soundSchema(schema)).toEqual(expected)
  })

  it('keeps a property that has the name of a keyword', () => {
    const schema = {
      type: 'object',
      properties: { type: TEXT, required: { type: 'boolean' }, description: TEXT, enum: TEXT },
      required: ['type'],
    }
    expect(soundSchema(schema)).toBe(schema)
  })

  it.each(['constructor', 'valueOf', '__proto__'])(
    'has no keyword or type by the name of %s',
    (name) => {
      expect(
        soundSchema(JSON.parse(`{"type": "object", "properties": {"a": {"type": "${name}"}}}`)),
      ).toEqual({
        type: 'object',
        properties: { a: {} },
      })
      const own = JSON.parse(`{"type": "object", "properties": {}, "${name}": 1}`)
      expect(Object.keys(soundSchema(own))).toContain(name)
    },
  )

  it('that refers to itself is left as it is', () => {
    const node = { type: 'object', properties: { next: { $ref: '#' } } }
    expect(soundSchema(node)).toBe(node)
  })
})
