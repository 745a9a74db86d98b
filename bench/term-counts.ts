import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { createTermStatistics } from '../src/services/ingestion/term-statistics.ts'
import { createSqliteStore } from '../src/stores/sqlite/sqlite-store.ts'
import type { CountedTerms } from '../src/stores/term-counts.ts'
import type { Bench, Findings } from './support/bench.ts'
import { round } from './support/statistics.ts'

/** As many entries as the server keeps side by side, plus one, which triggers summing them up. */
const ENTRIES = 65
/** Distinct terms of all entries together; the last size is the most that a sum holds. */
const SIZES = [65_536, 1_048_576, 4_194_304]
/** Odd, so that no two positions map to the same term. */
const SPREAD = 2_654_435_761
const MEGABYTE = 2 ** 20
const ANALYSER = 'bench'

/** The cost of summing up term counts, for a server on SQLite that reads them there and writes their sum. */
export async function termCounts({ directory, progress }: Bench): Promise<Findings> {
  const rows: Findings['rows'] = []
  for (const size of SIZES) {
    progress(`${size} terms`)
    rows.push({
      'distinct terms': size,
      ...(await foldOnce(size, join(directory, `terms-${size}`))),
    })
  }
  return {
    title: `${ENTRIES} entries of the term counts, read from SQLite, summed up and written`,
    rows,
    notes: [
      'Terms spread over all 32 bits, by a fixed multiplier. "Longest pause" is how long nobody else had the thread; "held" are the sums afterwards, "at most" what the process grew by, its threads and the database included, each row after the ones above it.',
    ],
  }
}

async function foldOnce(size: number, directory: string) {
  await mkdir(directory, { recursive: true })
  const onCrash = (error: Error) => {
    throw error
  }
  const store = await createSqliteStore({ directory, queueLimit: 1_000, onCrash })
  for (let entry = 0; entry < ENTRIES; entry++) await store.terms.fold([], entryOf(size, entry))
  globalThis.gc?.()
  const before = process.memoryUsage.rss()
  const statistics = createTermStatistics({
    ...{ store, analyser: ANALYSER, log: { info: () => undefined, warn: () => undefined } },
    preparer: { analyse: () => Promise.reject(new Error('nothing is to be analysed')) },
  })
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  const begun = performance.now()
  await statistics.refresh()
  const milliseconds = performance.now() - begun
  delay.disable()
  const most = process.resourceUsage().maxRSS / 1_024
  await store.close()
  return {
    'all ms': round(milliseconds),
    'longest pause ms': round(delay.max / 1e6),
    'held MB': round((size * 8) / MEGABYTE, 1),
    'at most MB': round(most - before / MEGABYTE),
  }
}

/** One share of the terms; the last entry has the same terms as the first. */
function entryOf(size: number, entry: number): CountedTerms {
  const share = size / (ENTRIES - 1)
  const first = (entry % (ENTRIES - 1)) * share
  const spread = Array.from({ length: share }, (_, i) => Math.imul(first + i, SPREAD) >>> 0)
  const terms = Uint32Array.from(spread).sort()
  const holding = Int32Array.from(terms, (term) => 1 + (term % 400))
  return { analyser: ANALYSER, chunks: 1_000, length: 68_000, terms, holding }
}
