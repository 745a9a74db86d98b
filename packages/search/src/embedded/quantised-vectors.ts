import type { ScaledVectors } from '../fusion.ts'

/** Values of an 8-bit vector range from -127 to 127. */
const MAX_LEVEL = 127
const MIN_CAPACITY = 1_024
/** Size of the key and the scale of a saved vector. */
const BYTES_BESIDE = 8

export type QuantisedVectors = ReturnType<typeof createQuantisedVectors>

/**
 * In-memory store of unit vectors of one dimension, by key: one byte per value and one scale per vector, which changes
 * cosines by about 0.0005. Starts empty, or with the vectors in `saved`, whose memory it takes over.
 */
export function createQuantisedVectors(dimension: number, saved?: Uint8Array<ArrayBuffer>) {
  const { rows, columns, numbersOf, scaleOf, write, free } = createRows(dimension, saved)
  /** Ascending. */
  const keys = () => Uint32Array.from(rows.keys()).sort()
  /** Kept until a change: to list all takes as long as to compare them. */
  let everything: ScaledVectors | undefined

  return {
    dimension,
    get size() {
      return rows.size
    },
    has: (key: number) => rows.has(key),
    /** Adds unit vectors, given one after another; replaces those of existing keys. */
    set(keys: Uint32Array, values: Float32Array): void {
      everything = undefined
      for (const [place, key] of keys.entries()) {
        write(key, values.subarray(place * dimension, (place + 1) * dimension))
      }
    },
    delete(key: number): boolean {
      everything = undefined
      return free(key)
    },
    keys,
    /** The cosine with a unit vector; undefined if the key is unknown. */
    cosine(key: number, vector: Float32Array): number | undefined {
      const row = rows.get(key)
      if (row === undefined) return undefined
      const numbers = numbersOf(row)
      let sum = 0
      for (let i = 0; i < dimension; i++) sum += (numbers[i] ?? 0) * (vector[i] ?? 0)
      return sum * scaleOf(row)
    },
    /** The vectors of these keys, in their order; unknown keys are omitted. Nothing is copied: it holds until a change. */
    read(keysToRead: Iterable<number>): ScaledVectors {
      const present: number[] = []
      const places: number[] = []
      for (const key of keysToRead) {
        const row = rows.get(key)
        if (row === undefined) continue
        present.push(key)
        places.push(row)
      }
      return {
        keys: Uint32Array.from(present),
        rows: Uint32Array.from(places),
        dimension,
        ...columns(),
      }
    },
    /** All vectors, in no order. Nothing is copied: it holds until a change. */
    all(): ScaledVectors {
      everything ??= {
        keys: Uint32Array.from(rows.keys()),
        rows: Uint32Array.from(rows.values()),
        dimension,
        ...columns(),
      }
      return everything
    },
    /** Keys, scales and values, in the form that `createQuantisedVectors` takes as `saved`. */
    save(): Uint8Array<ArrayBuffer> {
      const bytes = new Uint8Array(rows.size * (BYTES_BESIDE + dimension))
      const views = viewsOf(bytes, dimension)
      for (const [place, key] of keys().entries()) {
        const row = rows.get(key) ?? 0
        views.keys[place] = key
        views.scales[place] = scaleOf(row)
        views.numbers.set(numbersOf(row), place * dimension)
      }
      return bytes
    },
  }
}

/** Rows of a growing buffer, one per vector; freed rows are reused first. */
function createRows(dimension: number, saved = new Uint8Array()) {
  const initial = viewsOf(saved, dimension)
  const rows = new Map<number, number>()
  for (const [row, key] of initial.keys.entries()) rows.set(key, row)
  const freed: number[] = []
  let { scales, numbers } = initial

  const grow = (size: number) => {
    if (size <= scales.length) return
    const capacity = Math.max(MIN_CAPACITY, Math.ceil(scales.length * 1.5))
    const smaller = { scales, numbers }
    scales = new Float32Array(capacity)
    scales.set(smaller.scales)
    numbers = new Int8Array(capacity * dimension)
    numbers.set(smaller.numbers)
  }
  const numbersOf = (row: number) => numbers.subarray(row * dimension, (row + 1) * dimension)

  return {
    rows,
    columns: () => ({ values: numbers, scales }),
    numbersOf,
    scaleOf: (row: number) => scales[row] ?? 0,
    write(key: number, exact: Float32Array): void {
      // Rounded as in the document store, so that vectors from either source are the same.
      const values = new Float16Array(exact)
      const row = rows.get(key) ?? freed.pop() ?? rows.size
      rows.set(key, row)
      grow(row + 1)
      let largest = 0
      for (let i = 0; i < dimension; i++) largest = Math.max(largest, Math.abs(values[i] ?? 0))
      const scale = largest / MAX_LEVEL
      scales[row] = scale
      const levels = numbersOf(row)
      for (let i = 0; i < dimension; i++) {
        levels[i] = scale > 0 ? Math.round((values[i] ?? 0) / scale) : 0
      }
    },
    free(key: number): boolean {
      const row = rows.get(key)
      if (row !== undefined) freed.push(row)
      return rows.delete(key)
    },
  }
}

/** Layout: all keys, then all scales, then all values. */
function viewsOf({ buffer, byteOffset, byteLength }: Uint8Array<ArrayBuffer>, dimension: number) {
  const count = Math.floor(byteLength / (BYTES_BESIDE + dimension))
  return {
    keys: new Uint32Array(buffer, byteOffset, count),
    scales: new Float32Array(buffer, byteOffset + 4 * count, count),
    numbers: new Int8Array(buffer, byteOffset + BYTES_BESIDE * count, count * dimension),
  }
}
