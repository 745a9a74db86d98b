import { DocumentForm, FileFields } from '@agent-server/schemas/new-document.ts'
import { describe, expect, it } from 'vitest'

const issueOf = (fields: object) => {
  const [issue] = FileFields.safeParse(fields).error?.issues ?? []
  return issue && [issue.path.join('.'), issue.message]
}

describe('The fields beside a file', () => {
  it('are all text, of which metadata is JSON', () => {
    const fields = { title: 'A', url: 'https://example.org', metadata: '{"n":1,"b":true,"s":"x"}' }
    expect(FileFields.parse(fields)).toEqual({
      title: 'A',
      url: 'https://example.org',
      metadata: { n: 1, b: true, s: 'x' },
    })
  })

  it('are all optional', () => expect(FileFields.parse({})).toEqual({}))

  it('are made storable', () => {
    const fields = { title: 'a\0b\uD800', url: 'https://a.test/\uD800' }
    expect(FileFields.parse(fields)).toEqual({ title: 'a b\uFFFD', url: 'https://a.test/\uFFFD' })
  })

  it.each([
    ['a title too long', { title: 'x'.repeat(1_001) }, 'title'],
    ['a url too long', { url: `https://a.test/${'x'.repeat(4_000)}` }, 'url'],
    ['a url that runs code', { url: ' javascript:alert(1)' }, 'url'],
    ['metadata too long', { metadata: `"${'x'.repeat(65_536)}"` }, 'metadata'],
    ['metadata that is no object', { metadata: '7' }, 'metadata'],
    ['a list in the metadata', { metadata: '{"a":[1]}' }, 'metadata.a'],
    ['a bad name in the metadata', { metadata: '{"a b":1}' }, 'metadata.a b'],
  ])('are refused with %s', (_case, fields, path) => {
    expect(issueOf(fields)?.[0]).toBe(path)
  })

  it('report that metadata must be JSON', () => {
    expect(issueOf({ metadata: '{' })).toEqual(['metadata', 'must be a JSON object'])
  })
})

it('The form as the contract shows it needs a file', () => {
  expect(DocumentForm.safeParse({ title: 'A' }).error?.issues[0]?.path).toEqual(['file'])
  expect(DocumentForm.parse({ file: 'bytes' })).toEqual({ file: 'bytes' })
})
