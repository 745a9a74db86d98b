const FIRST_PLACES = 1_024
const MAX_OCCURRENCES = 255

/** The terms of one chunk: ascending and distinct, with their weighted counts beside them. */
export interface CountedTerms {
  terms: Uint32Array<ArrayBuffer>
  /** At most 255 each. */
  counts: Uint8Array<ArrayBuffer>
}

/** Counts the terms of one chunk after another, in a hash table that is made once. */
interface TermCounter {
  clear(): void
  add(term: number, weight: number): void
  /** What was added since it was cleared. */
  counted(): CountedTerms
}

export function createTermCounter(): TermCounter {
  let table = createTable(FIRST_PLACES)

  const grow = () => {
    const grown = createTable(table.counts.length * 2)
    for (const place of table.used.subarray(0, table.size)) {
      count(grown, table.terms[place] ?? 0, table.counts[place] ?? 0)
    }
    table = grown
  }

  return {
    clear() {
      for (const place of table.used.subarray(0, table.size)) table.counts[place] = 0
      table.size = 0
    },
    add(term, weight) {
      count(table, term, weight)
      if (table.size === table.used.length) grow()
    },
    counted() {
      const terms = new Uint32Array(table.size)
      for (let i = 0; i < terms.length; i++) terms[i] = table.terms[table.used[i] ?? 0] ?? 0
      terms.sort()
      const counts = new Uint8Array(terms.length)
      for (let i = 0; i < terms.length; i++) {
        const place = placeOf(table, terms[i] ?? 0)
        counts[i] = Math.min(table.counts[place] ?? 0, MAX_OCCURRENCES)
      }
      return { terms, counts }
    },
  }
}

interface Table {
  terms: Uint32Array
  /** 0 where a place is free. */
  counts: Uint32Array
  /** The places taken, `size` of them: never more than half of all. */
  used: Uint32Array
  size: number
}

function createTable(places: number): Table {
  return {
    terms: new Uint32Array(places),
    counts: new Uint32Array(places),
    used: new Uint32Array(places / 2),
    size: 0,
  }
}

function count(table: Table, term: number, weight: number): void {
  const place = placeOf(table, term)
  const before = table.counts[place] ?? 0
  if (before === 0) {
    table.terms[place] = term
    table.used[table.size++] = place
  }
  table.counts[place] = before + weight
}

/** Where a term stands, or would; terms are hashes themselves. */
function placeOf({ terms, counts }: Table, term: number): number {
  const mask = counts.length - 1
  let place = term & mask
  while (counts[place] !== 0 && terms[place] !== term) place = (place + 1) & mask
  return place
}

const encoder = new TextEncoder()
/** Tokens are short; a longer text gets a buffer of its own. */
const scratch = new Uint8Array(1024)

/** MurmurHash3 x86 32-bit (Appleby, public domain) of the UTF-8 bytes of `text`, seed 0, as sparse vectors of terms use it. */
export function murmur3(text: string): number {
  const bytes = text.length * 3 > scratch.length ? new Uint8Array(text.length * 3) : scratch
  const length = encoder.encodeInto(text, bytes).written
  const view = new DataView(bytes.buffer)
  const blocks = length & ~3
  let hash = 0
  for (let i = 0; i < blocks; i += 4) {
    hash ^= scramble(view.getUint32(i, true))
    hash = (hash << 13) | (hash >>> 19)
    hash = (Math.imul(hash, 5) + 0xe6546b64) | 0
  }
  let rest = 0
  for (let i = length - 1; i >= blocks; i--) rest = (rest << 8) | (bytes[i] ?? 0)
  return finish(hash ^ scramble(rest) ^ length)
}

function scramble(block: number): number {
  const mixed = Math.imul(block, 0xcc9e2d51)
  return Math.imul((mixed << 15) | (mixed >>> 17), 0x1b873593)
}

function finish(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) >>> 0
}
