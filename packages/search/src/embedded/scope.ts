import { excludedBy, type Segment } from './segment.ts'

/** What is remembered of all scopes in all segments; then all of it is found out again. */
const MAX_EXCLUDED_BYTES = 64 * 2 ** 20

/** Chunks that searches are restricted to. */
export interface Scope {
  /** Ascending. */
  keys: Uint32Array
  /** 1 at the ordinal of every chunk of the segment that is removed or not in the scope. */
  excludedIn(segment: Segment): Uint8Array<ArrayBuffer>
}

interface Excluded {
  /** How many chunks the segment had: they are removed from it, never added. */
  live: number
  excluded: Uint8Array<ArrayBuffer>
}

/** The scopes that may be used again, by number. */
export function createScopes(maximumBytes = MAX_EXCLUDED_BYTES) {
  const scopes = new Map<number, Scope>()
  let remembered = new WeakMap<Scope, WeakMap<Segment, Excluded>>()
  let bytes = 0

  const remember = (scope: Scope, segment: Segment): Excluded => {
    const excluded = excludedBy(segment, scope.keys)
    bytes += excluded.length
    if (bytes > maximumBytes) {
      remembered = new WeakMap()
      bytes = excluded.length
    }
    const { live } = segment
    const ofScope = remembered.get(scope) ?? new WeakMap<Segment, Excluded>()
    remembered.set(scope, ofScope.set(segment, { live, excluded }))
    return { live, excluded }
  }

  return {
    keep(number: number, keys: Uint32Array): Scope {
      const scope: Scope = {
        keys,
        excludedIn(segment) {
          const last = remembered.get(scope)?.get(segment)
          return (last?.live === segment.live ? last : remember(scope, segment)).excluded
        },
      }
      scopes.set(number, scope)
      return scope
    },
    forget: (number: number) => scopes.delete(number),
    find(number: number | undefined): Scope | undefined {
      if (number === undefined) return undefined
      const scope = scopes.get(number)
      if (!scope) throw new Error(`The index has no scope ${number}`)
      return scope
    },
  }
}
