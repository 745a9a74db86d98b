import { signal } from '@preact/signals'

/** The parts of the address after `#/`: `['documents', 'doc_1']`. */
export const route = signal(read())
/** The query string of the address, without `?`: `status=failed`. */
export const routeQuery = signal(readQuery())

window.addEventListener('hashchange', () => {
  show()
  window.scrollTo(0, 0)
})

/** Leaves the first page at an address without a fragment, and what stood there before in no history. */
export function clearRoute(): void {
  history.replaceState(null, '', location.pathname)
  route.value = []
}

/** Takes the place of the address, without a step in the history. */
export function replaceRoute(...parts: string[]): void {
  replaceAddress(href(...parts))
}

/** As `replaceRoute`, for an address that `href` made and that may have a query. */
export function replaceAddress(address: string): void {
  history.replaceState(null, '', address)
  show()
}

function show(): void {
  route.value = read()
  routeQuery.value = readQuery()
}

function readQuery(): string {
  return location.hash.split('?')[1] ?? ''
}

function read(): string[] {
  const [path = ''] = location.hash.replace(/^#\/?/, '').split('?')
  return path.split('/').filter(Boolean).map(decode)
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

export function href(...parts: string[]): string {
  return `#/${parts.map(encodeURIComponent).join('/')}`
}

/** Where a passage is shown in its document, or several parts of it, in order. */
export const documentAddress = (documentId: string, ...places: readonly Place[]) =>
  `${href('documents', documentId)}?at=${places.map(({ start, end }) => `${start}-${end}`).join()}`

interface Place {
  start: number
  end: number
}

/** The places of an address that `documentAddress` made; none where it is another. */
export function placesIn(query: string): Place[] {
  const at = new URLSearchParams(query).get('at') ?? ''
  if (!/^\d+-\d+(?:,\d+-\d+)*$/.test(at)) return []
  return at.split(',').map((place) => {
    const [start = 0, end = 0] = place.split('-').map(Number)
    return { start, end }
  })
}
