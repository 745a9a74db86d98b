import { signal } from '@preact/signals'

/** The parts of the address after `#/`: `['documents', 'doc_1']`. */
export const route = signal(read())

window.addEventListener('hashchange', () => {
  route.value = read()
  window.scrollTo(0, 0)
})

/** Leaves the first page at an address without a fragment, and what stood there before in no history. */
export function clearRoute(): void {
  history.replaceState(null, '', location.pathname)
  route.value = []
}

function read(): string[] {
  const path = location.hash.replace(/^#\/?/, '')
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
