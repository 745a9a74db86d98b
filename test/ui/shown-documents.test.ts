import { describe, expect, it } from 'vitest'
import { loadComponents } from './render.ts'

interface Exports {
  addressOf(shown: object): string
  documentAddress(id: string, ...places: readonly object[]): string
  href(...parts: string[]): string
  isFiltered(shown: object): boolean
  placesIn(query: string): object[]
  readShown(query: string): object
  selectionOf(shown: object): object
}

const ui = await loadComponents<Exports>('documents/shown-documents.ts', 'route.ts')

const ALL = {
  status: undefined,
  title: '',
  collection: '',
  metadata: '',
  type: '',
  sort: '-createdAt',
}

describe('The list of documents', () => {
  it('shows all, the newest first, where its address says nothing else', () => {
    expect(ui.readShown('')).toEqual(ALL)
    expect(ui.addressOf(ALL)).toBe('#/documents')
    expect(ui.isFiltered(ALL)).toBe(false)
  })

  it('is found again by its address', () => {
    const shown = {
      status: 'failed',
      title: 'a & b',
      collection: 'birds',
      metadata: 'year = 2026',
      type: 'image/*',
      sort: 'title',
    }
    const address = ui.addressOf(shown)
    expect(ui.readShown(address.split('?')[1] ?? '')).toEqual(shown)
    expect(ui.isFiltered(shown)).toBe(true)
  })

  it('takes no state or order from an address that there is not', () => {
    expect(ui.readShown('status=lost&sort=colour')).toEqual(ALL)
  })

  it.each<[string, object | undefined]>([
    ['', undefined],
    ['year = 2026', { field: 'year', in: [2026, '2026'] }],
    ['public = true', { field: 'public', in: [true, 'true'] }],
    ['place = New York', { field: 'place', in: ['New York'] }],
    ['{"field": "a", "gt": 1}', { field: 'a', gt: 1 }],
  ])('asks the server with the filter of %j', (metadata, filter) => {
    expect(ui.selectionOf({ ...ALL, metadata })).toMatchObject({ filter })
  })

  it.each(['year', '= 2026', 'year ='])('says how a filter is typed where it is %j', (metadata) => {
    expect(() => ui.selectionOf({ ...ALL, metadata })).toThrow(/such as year = 2026/)
  })

  it('asks for nothing by blanks', () => {
    expect(ui.selectionOf({ ...ALL, title: '  ', collection: ' ' })).toEqual({ sort: '-createdAt' })
  })
})

describe('The address of passages', () => {
  it('names their document and places, whatever the id', () => {
    const places = [
      { start: 5, end: 9 },
      { start: 20, end: 31 },
    ]
    const address = ui.documentAddress('a/b ?', ...places)
    expect(address).toBe('#/documents/a%2Fb%20%3F?at=5-9,20-31')
    expect(ui.placesIn(address.split('?')[1] ?? '')).toEqual(places)
  })

  it.each(['', 'at=', 'at=5', 'at=5-9,', 'at=-5-9', 'at=a-b', 'of=5-9'])(
    'has no places where it says %j',
    (query) => {
      expect(ui.placesIn(query)).toEqual([])
    },
  )
})
