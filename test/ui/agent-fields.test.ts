import { describe, expect, it } from 'vitest'
import { fieldAt, readFields, withField } from '../../ui/admin/agent-fields.ts'

const TEXT = '{"name": "desk", "limits": {"rounds": 4, "seconds": 9}, "tools": {}}'

it('The text of an agent is read as fields, and not while it is no object', () => {
  expect(readFields(TEXT)).toMatchObject({ name: 'desk' })
  for (const text of ['', '{"name": ', '[]', 'null', '3']) expect(readFields(text)).toBeUndefined()
})

it('A field is found by its path, where there is one', () => {
  const fields = readFields(TEXT)
  expect(fieldAt(fields, ['limits', 'rounds'])).toBe(4)
  expect(fieldAt(fields, ['limits', 'rounds', 'more'])).toBeUndefined()
  expect(fieldAt(fields, ['skills', 'sources'])).toBeUndefined()
  expect(fieldAt(undefined, ['name'])).toBeUndefined()
})

describe('A field that is set', () => {
  it('keeps its place and all others', () => {
    expect(withField(TEXT, ['limits', 'rounds'], 7)).toBe(
      `${JSON.stringify({ name: 'desk', limits: { rounds: 7, seconds: 9 }, tools: {} }, null, 2)}\n`,
    )
  })

  it('brings the fields above it', () => {
    const fields = readFields(withField(TEXT, ['skills', 'sources'], ['./a']))
    expect(fieldAt(fields, ['skills', 'sources'])).toEqual(['./a'])
    expect(Object.keys(fields ?? {})).toEqual(['name', 'limits', 'tools', 'skills'])
  })

  it('to undefined is taken out', () => {
    const fields = readFields(withField(TEXT, ['limits', 'rounds'], undefined))
    expect(fieldAt(fields, ['limits'])).toEqual({ seconds: 9 })
  })

  it('of a text that is being written changes nothing', () => {
    expect(withField('{"name": ', ['name'], 'x')).toBe('{"name": ')
  })
})
