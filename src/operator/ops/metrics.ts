import { startDeadline, untilAborted } from '@agent-server/lib/abort.ts'
import { ignore } from '@agent-server/lib/ignore.ts'
import type { Log } from '@agent-server/lib/log.ts'
import { meter } from '@agent-server/lib/tracing.ts'
import type { Sample } from '@agent-server/schemas/operator/ops.ts'
import type { StoreCounts } from '@agent-server/stores'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { RunObserver } from '../../agent/run/run-limiter.ts'

const SECONDS = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300,
]

const PREFIX = 'agent_server_'

/** Far below the ten seconds after which Prometheus gives up a scrape by default. */
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

/**
 * Metrics for Prometheus, and those of the server's own work for OpenTelemetry too, if that was started before. Calls
 * `counts` at each scrape, and `embeddings`, which is absent if search is by keywords only.
 */
export function createMetrics(
  counts: () => Promise<StoreCounts>,
  embeddings?: () => { missing: number },
): Metrics {
  const registry = new Registry()

  const { requests, ingestion, search, runs, firstDelta, characters, open } =
    createInstruments(registry)
  if (embeddings) {
    new Gauge({
      name: 'agent_server_chunks_without_vector',
      help: 'Chunks without a vector, which are found by keywords only',
      registers: [registry],
      collect() {
        this.set(embeddings().missing)
      },
    })
  }
  const refreshCounts = createCountGauges(registry, counts)
  const sampler = createSampler()

  return {
    runs: {
      runStarted() {
        open(1)
        sampler.runStarted()
      },
      runEnded({ outcome, milliseconds, firstDelta: delta }) {
        open(-1)
        sampler.runEnded()
        runs(milliseconds, { outcome })
        if (delta !== undefined) firstDelta(delta)
      },
    },
    requestEnded({ operation, status, milliseconds }) {
      sampler.requestEnded(status, milliseconds)
      requests(milliseconds, { operation, status: String(status) })
    },
    ingestionEnded({ status, milliseconds, characters: length }) {
      sampler.documentEnded()
      ingestion(milliseconds, { status })
      if (status === 'ready') characters(length)
    },
    searchEnded(milliseconds) {
      sampler.searchEnded(milliseconds)
      search(milliseconds)
    },
    sample: sampler.take,
    async render() {
      await refreshCounts()
      return Registry.merge([processMetrics(), registry]).metrics()
    },
    contentType: registry.contentType,
  }
}

let ofProcess: Registry | undefined

/** The metrics of Node.js itself. They are collected once for all servers of a process: prom-client cannot stop it. */
function processMetrics(): Registry {
  if (!ofProcess) {
    ofProcess = new Registry()
    collectDefaultMetrics({ register: ofProcess })
  }
  return ofProcess
}

/** Each is exported to Prometheus and to OpenTelemetry under the same name. */
function createInstruments(registry: Registry) {
  const registers = [registry]
  const histogram = (ownName: string, help: string, labelNames: string[] = []) => {
    const name = `${PREFIX}${ownName}`
    const prometheus = new Histogram({ name, help, labelNames, registers, buckets: SECONDS })
    const advice = { explicitBucketBoundaries: SECONDS }
    const otel = meter().createHistogram(name, { description: help, unit: 's', advice })
    return (milliseconds: number, labels: Record<string, string> = {}) => {
      prometheus.observe(labels, milliseconds / 1_000)
      otel.record(milliseconds / 1_000, labels)
    }
  }
  const describe = (ownName: string, help: string) => {
    const [name, description] = [`${PREFIX}${ownName}`, help]
    return { prometheus: { name, help, registers }, otel: [name, { description }] as const }
  }
  const characters = describe('ingested_characters_total', 'Text of documents that became ready')
  const prometheusCharacters = new Counter(characters.prometheus)
  const otelCharacters = meter().createCounter(...characters.otel)
  const open = describe('runs_open', 'Agent runs in progress')
  const prometheusOpen = new Gauge(open.prometheus)
  const otelOpen = meter().createUpDownCounter(...open.otel)
  return {
    requests: histogram('request_seconds', 'HTTP requests until the last byte', [
      'operation',
      'status',
    ]),
    ingestion: histogram('ingestion_seconds', 'Duration of the ingestion of a document', [
      'status',
    ]),
    search: histogram('search_seconds', 'Duration of searches, including reading the hits'),
    runs: histogram('run_seconds', 'Agent runs', ['outcome']),
    firstDelta: histogram('run_first_delta_seconds', 'Time from the request to the first text'),
    characters(count: number) {
      prometheusCharacters.inc(count)
      otelCharacters.add(count)
    },
    open(change: 1 | -1) {
      prometheusOpen.inc(change)
      otelOpen.add(change)
    },
  }
}

/** Returns a function that updates the gauges. While the document store does not answer, only they are absent. */
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

  const read = async () => {
    using deadline = startDeadline(COUNTS_MS)
    return await ignore(untilAborted(counts(), deadline.signal), '/readiness reports the reason')
  }
  const otel = {
    chunks: meter().createObservableGauge(`${PREFIX}chunks`),
    documents: meter().createObservableGauge(`${PREFIX}documents`),
  }
  meter().addBatchObservableCallback(async (result) => {
    const storeCounts = await read()
    if (!storeCounts) return
    result.observe(otel.chunks, storeCounts.chunks)
    for (const [status, count] of Object.entries(storeCounts.documents))
      result.observe(otel.documents, count, { status })
  }, Object.values(otel))

  return async () => {
    const storeCounts = await read()
    chunks.remove()
    documents.reset()
    if (!storeCounts) return
    chunks.set(storeCounts.chunks)
    for (const [status, count] of Object.entries(storeCounts.documents))
      documents.set({ status }, count)
  }
}

const NOTHING = {
  requests: 0,
  failedRequests: 0,
  requestMilliseconds: 0,
  searches: 0,
  searchMilliseconds: 0,
  runs: 0,
  documents: 0,
}

/** Adds up what the server does between two samples. */
function createSampler() {
  let sums = { ...NOTHING }
  let openRuns = 0
  let since = performance.now()
  let cpuUsage = process.cpuUsage()

  return {
    requestEnded(status: number, milliseconds: number) {
      sums.requests += 1
      sums.failedRequests += status >= 500 ? 1 : 0
      sums.requestMilliseconds += milliseconds
    },
    searchEnded(milliseconds: number) {
      sums.searches += 1
      sums.searchMilliseconds += milliseconds
    },
    documentEnded() {
      sums.documents += 1
    },
    runStarted() {
      openRuns += 1
    },
    runEnded() {
      openRuns -= 1
      sums.runs += 1
    },
    /** What was done since the last sample. */
    take(): Sample {
      const now = performance.now()
      const { user, system } = process.cpuUsage(cpuUsage)
      const seconds = (now - since) / 1_000
      const sample = {
        ...sums,
        openRuns,
        seconds,
        processors: (user + system) / 1e6 / seconds,
        memory: process.memoryUsage.rss(),
        requestMilliseconds: sums.requestMilliseconds / Math.max(sums.requests, 1),
        searchMilliseconds: sums.searchMilliseconds / Math.max(sums.searches, 1),
      }
      since = now
      cpuUsage = process.cpuUsage()
      sums = { ...NOTHING }
      return sample
    },
  }
}

/** Logs one line per run, besides the one per request. */
export function logRuns(observer: RunObserver, log: Pick<Log, 'info'>): RunObserver {
  return {
    runStarted: observer.runStarted,
    runEnded(run) {
      observer.runEnded(run)
      const { id: runId, outcome, firstDelta, milliseconds, usage, tools } = run
      const { totalTokens: _, ...tokens } = usage ?? {}
      log.info({ outcome, milliseconds, firstDelta, ...tokens, tools, runId }, 'run')
    },
  }
}
