import type { Sample } from '../../schemas/operator/ops.ts'

const NOTHING = {
  ...{ requests: 0, failedRequests: 0, requestMilliseconds: 0 },
  ...{ searches: 0, searchMilliseconds: 0, runs: 0, documents: 0 },
}

/** Adds up what the server does between one sample and the next. */
export function createSampler() {
  let sums = { ...NOTHING }
  let openRuns = 0
  let since = performance.now()
  let used = process.cpuUsage()

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
    /** What was done since the last one was taken. */
    take(): Sample {
      const now = performance.now()
      const { user, system } = process.cpuUsage(used)
      const seconds = (now - since) / 1_000
      const sample = {
        ...{ ...sums, openRuns, seconds, processors: (user + system) / 1e6 / seconds },
        memory: process.memoryUsage.rss(),
        requestMilliseconds: sums.requestMilliseconds / Math.max(sums.requests, 1),
        searchMilliseconds: sums.searchMilliseconds / Math.max(sums.searches, 1),
      }
      since = now
      used = process.cpuUsage()
      sums = { ...NOTHING }
      return sample
    },
  }
}
