import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { startDeadline, untilAborted } from '../../lib/abort.ts'
import type { Sample } from '../../schemas/activity.ts'
import type { StoreCounts } from '../../stores/document-store.ts'
import type { RunObserver } from '../agent/run-gate.ts'
import { createSampler } from './sampler.ts'

const SECONDS = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300,
]

/** Scrapes are given up after ten seconds by default. */
const COUNTS_MS = 2_000

export interface Metrics {
  runs: RunObserver
  /** `operation` is the route's `operationId`, so that the number of series is bounded. */
  requestEnded(request: { operation: string; status: number; milliseconds: number }): void
  ingestionEnded(outcome: { status: string; milliseconds: number; characters: number }): void
  searchEnded(milliseconds: number): void
  /** What was done since the last call. */
  sample(): Sample
  /** In Prometheus' text format. */
  render(): Promise<string>
  readonly contentType: string
}

/** Prometheus metrics; `counts` is asked at each scrape, and `meaning`, which is absent where search goes by words alone. */
export function createMetrics(
  counts: () => Promise<StoreCounts>,
  meaning?: () => { missing: number },
): Metrics {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })

  const histogram = <Label extends string>(name: string, help: string, labelNames: Label[]) =>
    new Histogram({ name: `agent_server_${name}`, help, labelNames, registers, buckets: SECONDS })

  const requests = histogram('request_seconds', 'HTTP requests until the last byte', [
    'operation',
    'status',
  ])
  const ingestion = histogram('ingestion_seconds', 'From claim to outcome of a document', [
    'status',
  ])
  const search = histogram('search_seconds', 'Searches, with reading the hits', [])
  const runs = histogram('run_seconds', 'Agent runs', ['outcome'])
  const firstDelta = histogram('run_first_delta_seconds', 'From request to first text', [])
  const characters = new Counter({
    name: 'agent_server_ingested_characters_total',
    help: 'Text of documents that became ready',
    registers,
  })
  const open = new Gauge({
    name: 'agent_server_runs_open',
    help: 'Agent runs under way',
    registers,
  })
  if (meaning) {
    new Gauge({
      name: 'agent_server_chunks_without_vector',
      help: 'Chunks that words find and meaning does not find yet',
      registers,
      collect() {
        this.set(meaning().missing)
      },
    })
  }
  const refreshCounts = createCountGauges(registry, counts)
  const sampler = createSampler()

  return {
    runs: {
      runStarted() {
        open.inc()
        sampler.runStarted()
      },
      runEnded({ outcome, milliseconds, firstDelta: delta }) {
        open.dec()
        sampler.runEnded()
        runs.observe({ outcome }, milliseconds / 1_000)
        if (delta !== undefined) firstDelta.observe(delta / 1_000)
      },
    },
    requestEnded({ operation, status, milliseconds }) {
      sampler.requestEnded(status, milliseconds)
      requests.observe({ operation, status: String(status) }, milliseconds / 1_000)
    },
    ingestionEnded({ status, milliseconds, characters: length }) {
      sampler.documentEnded()
      ingestion.observe({ status }, milliseconds / 1_000)
      if (status === 'ready') characters.inc(length)
    },
    searchEnded(milliseconds) {
      sampler.searchEnded(milliseconds)
      search.observe(milliseconds / 1_000)
    },
    sample: sampler.take,
    async render() {
      await refreshCounts()
      return registry.metrics()
    },
    contentType: registry.contentType,
  }
}

/** Answers what brings the gauges up to date. While the document store does not answer, they are absent and all others stay. */
function createCountGauges(registry: Registry, counts: () => Promise<StoreCounts>) {
  const registers = [registry]
  const chunks = new Gauge({
    name: 'agent_server_chunks',
    help: 'Chunks in the document store',
    registers,
  })
  const documents = new Gauge({
    name: 'agent_server_documents',
    help: 'Documents by status',
    labelNames: ['status'],
    registers,
  })

  return async () => {
    using deadline = startDeadline(COUNTS_MS)
    // Why it does not answer is for /readiness to say.
    const known = await untilAborted(counts(), deadline.signal).catch(() => undefined)
    chunks.remove()
    documents.reset()
    if (!known) return
    chunks.set(known.chunks)
    for (const [status, count] of Object.entries(known.documents)) documents.set({ status }, count)
  }
}
