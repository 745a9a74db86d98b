import { AppError } from '@agent-server/lib/errors.ts'
import { type ChatModel, type Meter, UNMETERED } from '@agent-server/models'
import type { SearchStep } from '@agent-server/schemas/query.ts'
import { describe, expect, it } from 'vitest'
import { searchByEffort } from '../../../src/agent/run/search-by-effort.ts'
import { hitOf } from '../../support/hit.ts'

const BOUNDS = { rounds: 3, searches: 10, tokens: 1_000, seconds: 5 }

/** A model that always wants two more searches. */
const insatiable: Pick<ChatModel, 'name' | 'stream'> = {
  name: 'insatiable',
  async *stream({ messages }) {
    const text = `more ${messages[1]?.content.length}\nless ${messages[1]?.content.length}`
    const usage = { promptTokens: 90, completionTokens: 10 }
    yield [
      { type: 'text-delta', text },
      { type: 'finish', reason: 'stop', usage },
    ]
  },
}

async function lastStep(
  bounds: Partial<typeof BOUNDS>,
  model: Pick<ChatModel, 'name' | 'stream'> = insatiable,
): Promise<SearchStep | undefined> {
  const retrieval = { search: async () => ({ hits: [], corrections: [], degraded: false }) }
  const means = { model, retrieval, meter: UNMETERED, isStopWord: () => false }
  const parts = { ...means, bounds: { ...BOUNDS, ...bounds } }
  const search = { query: 'a', topK: 3 }
  const steps = await Array.fromAsync(searchByEffort(parts, search, 'high'))
  return steps.at(-1)
}

describe('The searches for one question', () => {
  it.each([
    ['rounds', { rounds: 2 }],
    ['searches', { searches: 4 }],
    ['tokens', { tokens: 100 }],
  ] as const)('end after the maximum of %s', async (reason, bounds) => {
    expect(await lastStep(bounds)).toEqual({ action: 'stop', reason })
  })

  it('end when the time is over', async () => {
    const slow: Pick<ChatModel, 'name' | 'stream'> = {
      name: 'insatiable',
      async *stream(_request, signal) {
        await new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason))
        })
      },
    }
    expect(await lastStep({ seconds: 0.02 }, slow)).toEqual({ action: 'stop', reason: 'seconds' })
  })
})

it('The searches for one question end where a limit is used up, with what was found', async () => {
  const hit = hitOf('a')
  const retrieval = { search: async () => ({ hits: [hit], corrections: [], degraded: false }) }
  const meter: Meter = {
    begin: () => Promise.reject(new AppError('rate_limited', 'You have used your 50 tokens')),
  }
  const search = { query: 'a', topK: 3 }
  const parts = { model: insatiable, retrieval, meter, isStopWord: () => false }
  const searches = searchByEffort(parts, search, 'high')
  const steps: SearchStep[] = []
  let next = await searches.next()
  for (; !next.done; next = await searches.next()) steps.push(next.value)
  expect(steps.at(-1)).toEqual({ action: 'stop', reason: 'tokens' })
  expect(next.value).toEqual({ hits: [hit], corrections: [], degraded: false })
})
