import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Bench, Findings } from './support/bench.ts'
import { interleave } from './support/interleave.ts'
import { startServer } from './support/server-process.ts'
import { median, round, show, spreadOf } from './support/statistics.ts'

/** Time for the memory that was only needed at start to be released. */
const REST_MS = 1_500

interface Start {
  milliseconds: number
  bytes: number
}

/** The time from starting the process until `/readiness` reports ready, and its memory at rest after that. */
export async function coldStart(bench: Bench): Promise<Findings> {
  const empty = join(bench.directory, 'empty')
  await mkdir(empty, { recursive: true })
  const found = await interleave({ nothing: () => start(empty) }, bench.rounds, bench.progress)
  const nothing = found('nothing')
  const emptyBytes = median(nothing.map(({ bytes }) => bytes))
  const rows: Findings['rows'] = [
    { chunks: 0, ...timesOf(nothing, nothing), 'MB at rest': megabytes(emptyBytes) },
  ]
  for (const size of bench.sizes) {
    const seed = await bench.seeded.of(size)
    const copy = await bench.seeded.copy(seed, `rebuild-${size}`)
    const found = await interleave(
      { intact: () => start(seed.directory), rebuilt: () => startWithoutIndex(copy.directory) },
      bench.rounds,
      (message) => bench.progress(`${seed.chunks} chunks: ${message}`),
    )
    const bytes = median(found('intact').map((one) => one.bytes))
    rows.push({
      chunks: seed.chunks,
      ...timesOf(found('intact'), found('rebuilt')),
      'MB at rest': megabytes(bytes),
      'bytes a chunk': round((bytes - emptyBytes) / seed.chunks),
    })
  }
  return {
    title: 'Cold start and memory at rest',
    rows,
    notes: ['Files are in the page cache of the system. Bytes a chunk: beyond an empty server.'],
  }
}

async function start(directory: string): Promise<Start> {
  const server = await startServer({ directory })
  await pause(REST_MS)
  const bytes = await server.memory()
  await server.stop()
  return { milliseconds: server.startMs, bytes }
}

async function startWithoutIndex(directory: string): Promise<Start> {
  await rm(join(directory, 'data', 'index'), { recursive: true, force: true })
  return start(directory)
}

function timesOf(intact: readonly Start[], rebuilt: readonly Start[]) {
  const times = (starts: readonly Start[]) =>
    show(spreadOf(starts.map(({ milliseconds }) => milliseconds)), 0)
  return { 'ready, ms': times(intact), 'ready without index, ms': times(rebuilt) }
}

function megabytes(bytes: number): string {
  return round(bytes / 1_048_576, 0)
}
