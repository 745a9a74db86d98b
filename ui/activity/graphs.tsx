import { useSignal } from '@preact/signals'
import { formatBytes, formatNumber, formatSeconds, formatTime } from '../format.ts'
import { samples } from './follow.ts'

type Sample = (typeof samples.value)[number]

interface GraphEntry {
  title: string
  read: (sample: Sample) => number
  format: (value: number) => string
}

const perMinute = (count: number, { seconds }: Sample) => (count / seconds) * 60
const toOneDigit = (value: number) => formatNumber(Math.round(value * 10) / 10)
/** The share of one processor. */
const toPercent = (value: number) => `${formatNumber(Math.round(value * 100))} %`

const GRAPHS: readonly GraphEntry[] = [
  { title: 'Requests a minute', read: (s) => perMinute(s.requests, s), format: toOneDigit },
  { title: 'Failed a minute', read: (s) => perMinute(s.failedRequests, s), format: toOneDigit },
  { title: 'Request duration', read: (s) => s.requestMilliseconds, format: formatSeconds },
  { title: 'Search duration', read: (s) => s.searchMilliseconds, format: formatSeconds },
  { title: 'Runs in progress', read: (s) => s.openRuns, format: formatNumber },
  { title: 'Documents a minute', read: (s) => perMinute(s.documents, s), format: toOneDigit },
  { title: 'Processor time', read: (s) => s.processors, format: toPercent },
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

/** A line over the last hour, from nothing up to the most; tells the value that is pointed at. */
function Graph({
  entry: { title, read, format },
  all,
}: {
  entry: GraphEntry
  all: readonly Sample[]
}) {
  const pointed = useSignal<Sample | undefined>(undefined)
  const values = all.map(read)
  const most = Math.max(0, ...values)
  const now = format(values.at(-1) ?? 0)
  const peak = `peak ${format(most)}`
  const { value: at } = pointed
  const point = ({ currentTarget, clientX }: PointerEvent & { currentTarget: Element }) => {
    const { left, width } = currentTarget.getBoundingClientRect()
    pointed.value = nearest(all, (clientX - left) / width)
  }
  return (
    <figure class="panel graph">
      <figcaption>
        <span class="hint">{title}</span> <span class="graph-now">{now}</span>
      </figcaption>
      <svg
        viewBox={`0 -1 ${WIDTH} ${HEIGHT + 2}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${title} over the last hour: ${now} now, ${peak}`}
        onPointerMove={point}
        onPointerLeave={() => (pointed.value = undefined)}
      >
        <path d={lineOf(all, values, most || 1)} />
        {at && <path class="pointed" d={`M${xOf(at, all).toFixed(1)} 0V${HEIGHT}`} />}
      </svg>
      <p class="hint graph-axis">
        <span>1 h ago</span>
        <span>{at ? `${formatTime(at.at)}: ${format(read(at))}` : peak}</span>
        <span>now</span>
      </p>
    </figure>
  )
}

const timeOf = ({ at }: Sample) => Date.parse(at)

/** Where a sample is, of the width of an hour that ends with the last one. */
function xOf(sample: Sample, all: readonly Sample[]): number {
  const last = all.at(-1) ?? sample
  return WIDTH * (1 - (timeOf(last) - timeOf(sample)) / HOUR_MS)
}

/** The sample nearest to a share of the width. */
function nearest(all: readonly Sample[], share: number): Sample | undefined {
  const distance = (sample: Sample) => Math.abs(xOf(sample, all) - share * WIDTH)
  return all.toSorted((a, b) => distance(a) - distance(b))[0]
}

function lineOf(all: readonly Sample[], values: readonly number[], most: number): string {
  return all
    .map((sample, index) => {
      const y = HEIGHT * (1 - (values[index] ?? 0) / most)
      const before = all[index - 1]
      const isApart = !before || timeOf(sample) - timeOf(before) > GAP_MS
      return `${isApart ? 'M' : 'L'}${xOf(sample, all).toFixed(1)} ${y.toFixed(1)}`
    })
    .join('')
}
