import { formatBytes, formatNumber, formatSeconds } from '../format.ts'
import { samples } from './follow.ts'

type Sample = (typeof samples.value)[number]

interface GraphEntry {
  title: string
  read: (sample: Sample) => number
  format: (value: number) => string
}

const perMinute = (count: number, { seconds }: Sample) => (count / seconds) * 60
const toOneDigit = (value: number) => formatNumber(Math.round(value * 10) / 10)

const GRAPHS: readonly GraphEntry[] = [
  { title: 'Requests a minute', read: (s) => perMinute(s.requests, s), format: toOneDigit },
  { title: 'Failed a minute', read: (s) => perMinute(s.failedRequests, s), format: toOneDigit },
  { title: 'Request duration', read: (s) => s.requestMilliseconds, format: formatSeconds },
  { title: 'Search duration', read: (s) => s.searchMilliseconds, format: formatSeconds },
  { title: 'Runs in progress', read: (s) => s.openRuns, format: formatNumber },
  { title: 'Documents a minute', read: (s) => perMinute(s.documents, s), format: toOneDigit },
  { title: 'Processors busy', read: (s) => s.processors, format: toOneDigit },
  { title: 'Memory', read: (s) => s.memory, format: formatBytes },
]

export function Graphs() {
  return (
    <div class="graphs">
      {GRAPHS.map((entry) => (
        <Graph key={entry.title} entry={entry} all={samples.value} />
      ))}
    </div>
  )
}

const HOUR_MS = 3_600_000
/** Longer than two samples apart: the server was not there. */
const GAP_MS = 30_000
const WIDTH = 240
const HEIGHT = 48

/** A line over the last hour, from nothing up to the most. */
function Graph({
  entry: { title, read, format },
  all,
}: {
  entry: GraphEntry
  all: readonly Sample[]
}) {
  const values = all.map(read)
  const most = Math.max(0, ...values)
  const now = format(values.at(-1) ?? 0)
  const said = `at most ${format(most)}`
  return (
    <figure class="panel graph">
      <figcaption>
        <span class="hint">{title}</span> <span class="graph-now">{now}</span>
      </figcaption>
      <svg
        viewBox={`0 -1 ${WIDTH} ${HEIGHT + 2}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${title} over the last hour: ${now} now, ${said}`}
      >
        <path d={lineOf(all, values, most || 1)} />
      </svg>
      <p class="hint">{said}</p>
    </figure>
  )
}

function lineOf(all: readonly Sample[], values: readonly number[], most: number): string {
  const times = all.map(({ at }) => Date.parse(at))
  const end = times.at(-1) ?? 0
  return times
    .map((time, index) => {
      const x = WIDTH * (1 - (end - time) / HOUR_MS)
      const y = HEIGHT * (1 - (values[index] ?? 0) / most)
      const isApart = time - (times[index - 1] ?? 0) > GAP_MS
      return `${isApart ? 'M' : 'L'}${x.toFixed(1)} ${y.toFixed(1)}`
    })
    .join('')
}
