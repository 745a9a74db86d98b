import type { StoreCounts } from '@agent-server/stores'
import { describe, expect, it } from 'vitest'
import { createMetrics } from '../../../src/operator/ops/metrics.ts'

const COUNTS: StoreCounts = {
  documents: { pending: 1, processing: 2, ready: 3, failed: 4 },
  chunks: 50,
  jobs: 3,
}

function createForTest(counts = async () => COUNTS) {
  const metrics = createMetrics(counts)
  /** The value of each series of the server's own, by its name and labels as they are written. */
  const series = async () => {
    const lines = (await metrics.render())
      .split('\n')
      .filter((line) => line.startsWith('agent_server_'))
    return Object.fromEntries(
      lines.map((line) => [
        line.slice(0, line.lastIndexOf(' ')),
        Number(line.slice(line.lastIndexOf(' ') + 1)),
      ]),
    )
  }
  return { metrics, series }
}

describe('the metrics', () => {
  it('count requests and their seconds by operation and status', async () => {
    const { metrics, series } = createForTest()
    metrics.requestEnded({ operation: 'query', status: 200, milliseconds: 20 })
    metrics.requestEnded({ operation: 'query', status: 200, milliseconds: 40 })
    metrics.requestEnded({ operation: 'unknown', status: 404, milliseconds: 1 })
    expect(await series()).toMatchObject({
      'agent_server_request_seconds_count{operation="query",status="200"}': 2,
      'agent_server_request_seconds_sum{operation="query",status="200"}': expect.closeTo(0.06),
      'agent_server_request_seconds_bucket{le="0.025",operation="query",status="200"}': 1,
      'agent_server_request_seconds_count{operation="unknown",status="404"}': 1,
    })
  })

  it('count searches', async () => {
    const { metrics, series } = createForTest()
    metrics.searchEnded(3)
    expect(await series()).toMatchObject({
      agent_server_search_seconds_count: 1,
      agent_server_search_seconds_sum: 0.003,
    })
  })

  it('count ingested documents by outcome, and the text of those that became ready', async () => {
    const { metrics, series } = createForTest()
    metrics.ingestionEnded({ status: 'ready', milliseconds: 1_000, characters: 500 })
    metrics.ingestionEnded({ status: 'failed', milliseconds: 10, characters: 999 })
    expect(await series()).toMatchObject({
      'agent_server_ingestion_seconds_count{status="ready"}': 1,
      'agent_server_ingestion_seconds_sum{status="ready"}': 1,
      'agent_server_ingestion_seconds_count{status="failed"}': 1,
      agent_server_ingested_characters_total: 500,
    })
  })

  it('count runs by outcome, those under way, and the time to the first text', async () => {
    const { metrics, series } = createForTest()
    const { runs } = metrics
    runs.runStarted()
    runs.runStarted()
    runs.runStarted()
    const nothing = { usage: undefined, tools: {} }
    runs.runEnded({ outcome: 'stop', milliseconds: 2_000, firstDelta: 500, ...nothing })
    runs.runEnded({
      outcome: 'upstream_failed',
      milliseconds: 10,
      firstDelta: undefined,
      ...nothing,
    })
    expect(await series()).toMatchObject({
      agent_server_runs_open: 1,
      'agent_server_run_seconds_count{outcome="stop"}': 1,
      'agent_server_run_seconds_count{outcome="upstream_failed"}': 1,
      agent_server_run_first_delta_seconds_count: 1,
      agent_server_run_first_delta_seconds_sum: 0.5,
    })
  })

  it('show documents and chunks as they are at the very first scrape', async () => {
    expect(await createForTest().series()).toMatchObject({
      'agent_server_documents{status="pending"}': 1,
      'agent_server_documents{status="processing"}': 2,
      'agent_server_documents{status="ready"}': 3,
      'agent_server_documents{status="failed"}': 4,
      agent_server_chunks: 50,
    })
  })

  it('show documents and chunks as they are at each later one', async () => {
    let counts = COUNTS
    const { series } = createForTest(async () => counts)
    await series()
    counts = { documents: { pending: 0, processing: 0, ready: 9, failed: 0 }, chunks: 99, jobs: 0 }
    expect(await series()).toMatchObject({
      'agent_server_documents{status="pending"}': 0,
      'agent_server_documents{status="ready"}': 9,
      agent_server_chunks: 99,
    })
  })

  it('say what was done between one sample and the next', () => {
    const { metrics } = createForTest()
    metrics.requestEnded({ operation: 'query', status: 200, milliseconds: 20 })
    metrics.requestEnded({ operation: 'query', status: 503, milliseconds: 40 })
    metrics.searchEnded(8)
    metrics.runs.runStarted()
    expect(metrics.sample()).toMatchObject({
      requests: 2,
      failedRequests: 1,
      requestMilliseconds: 30,
      searches: 1,
      searchMilliseconds: 8,
      runs: 0,
      openRuns: 1,
      documents: 0,
      memory: expect.any(Number),
    })
    expect(metrics.sample()).toMatchObject({ requests: 0, requestMilliseconds: 0, openRuns: 1 })
  })

  it('include those of the process', async () => {
    const text = await createForTest().metrics.render()
    expect(text).toContain('process_resident_memory_bytes')
    expect(text).toContain('nodejs_eventloop_lag_seconds')
  })

  it('explain every series', async () => {
    const text = await createForTest().metrics.render()
    const names = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name)
    expect(names.length).toBeGreaterThan(8)
    for (const name of names) expect(text).toMatch(new RegExp(`^# HELP ${name} \\S`, 'm'))
  })

  it('have a media type that Prometheus reads', () => {
    expect(createForTest().metrics.contentType).toMatch(/^text\/plain; version=0\.0\.4/)
  })

  it('of two servers in one process stay apart', async () => {
    const [one, two] = [createForTest(), createForTest()]
    one.metrics.searchEnded(1)
    expect((await two.series()).agent_server_search_seconds_count).toBe(0)
  })

  it('are available even when the document store is down', async () => {
    const { metrics, series } = createForTest(() => Promise.reject(new Error('disk')))
    metrics.searchEnded(1)
    const shown = await series()
    expect(shown.agent_server_search_seconds_count).toBe(1)
    expect(shown).not.toHaveProperty('agent_server_documents{status="ready"}')
    expect(shown).not.toHaveProperty('agent_server_chunks')
  })
})
