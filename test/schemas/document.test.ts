import { describe, expect, it } from 'vitest'
import { Document, DocumentListQuery, DocumentParams } from '../../src/schemas/document.ts'
import { DocumentInput } from '../../src/schemas/new-document.ts'
import { DOCUMENT_STATUSES } from '../../src/stores/document-store.ts'
import { issuesOf, pathsOf } from './issues-of.ts'

describe('a new document', () => {
  it.each<[string, object]>([
    ['its text alone', { text: 'a' }],
    ['title and address', { text: 'a', title: 'T', url: 'https://example.org' }],
    ['an empty title', { text: 'a', title: '' }],
    ['an address that is none', { text: 'a', url: 'shelf 5' }],
    ['a long title', { text: 'a', title: 't'.repeat(1_000) }],
    ['fields that nobody knows', { text: 'a', extras: { a: 1 } }],
  ])('is taken with %s', (_case, document) => {
    expect(issuesOf(DocumentInput, document)).toEqual([])
  })

  it.each<[string, unknown, string]>([
    ['without text', {}, 'text'],
    ['with empty text', { text: '' }, 'text'],
    ['with blank text', { text: ' \n\u0000' }, 'text'],
    ['with text that is none', { text: 5 }, 'text'],
    ['with a title past its bound', { text: 'a', title: 't'.repeat(1_001) }, 'title'],
    ['with an address past its bound', { text: 'a', url: 'u'.repeat(4_001) }, 'url'],
    ['as text', 'a', ''],
    ['as null', null, ''],
  ])('is refused %s, naming the field', (_case, document, path) => {
    expect(pathsOf(DocumentInput, document)).toEqual([path])
  })

  it('has title and address made storable like its text', () => {
    expect(DocumentInput.parse({ text: 'a\u0000', title: '\ud800', url: '\u0000' })).toEqual({
      text: 'a ',
      title: '\ufffd',
      url: ' ',
    })
  })
})

describe('the query of a list', () => {
  it.each([
    ['nothing', {}, {}],
    ['a limit', { limit: '100' }, { limit: 100 }],
    ['a cursor and a status', { cursor: 'x', status: 'failed' }, { cursor: 'x', status: 'failed' }],
  ])('is read with %s', (_case, query, read) => {
    const defaults = { limit: 20, sort: '-createdAt', total: false }
    expect(DocumentListQuery.parse(query)).toEqual({ ...defaults, ...read })
  })

  it.each([
    ['limit', ''],
    ['limit', '0'],
    ['limit', '101'],
    ['limit', '1.5'],
    ['limit', 'all'],
    ['limit', ['1', '2']],
    ['cursor', ''],
    ['cursor', 'c'.repeat(601)],
    ['status', 'done'],
    ['status', ''],
  ])('is refused with %s %j', (name, value) => {
    expect(pathsOf(DocumentListQuery, { [name]: value })).toEqual([name])
  })
})

describe('a document as it is answered', () => {
  const ready = {
    id: 'doc_1',
    status: 'ready',
    attempts: 1,
    revision: 1,
    chunks: 2,
    characters: 3,
    createdAt: '2026-01-01T00:00:00.000Z',
    updatedAt: '2026-01-01T00:00:00.000Z',
  }

  it.each(DOCUMENT_STATUSES)('can be %s, like in the store', (status) => {
    expect(issuesOf(Document, { ...ready, status })).toEqual([])
  })

  it('carries nothing that the contract does not name', () => {
    expect(Document.parse({ ...ready, text: 'secret', keys: [3] })).toEqual(ready)
  })
})

it.each(['', 'd'.repeat(129)])('the identifier in a path is bounded: %j', (id) => {
  expect(pathsOf(DocumentParams, { id })).toEqual(['id'])
})
