import { Run } from '@agent-server/schemas/operator/run.ts'
import type { RunStore } from '@agent-server/stores'
import { afterAll, describe, expect, it } from 'vitest'
import { createSqliteData } from '../../../packages/stores/test/sqlite/store-data.ts'
import type { RunTrace } from '../../../src/agent/run/run-trace.ts'
import { createRunHistory } from '../../../src/operator/ops/runs.ts'
import { question } from '../../agent/run/agent-for-test.ts'
import { hitOf } from '../../support/hit.ts'

const SECRET = 'a-secret-of-the-server'
const ENDED = {
  outcome: 'stop',
  milliseconds: 1,
  firstDelta: undefined,
  usage: undefined,
  tools: {},
}
const LONG = 'x'.repeat(50_000)

const log = { warn: () => undefined }
const { open } = await createSqliteData()
const store = await open()
afterAll(() => store.close())
const createHistory = (maximum: number) =>
  createRunHistory({ store: store.runRecords, maximum, log })

/** What is kept of a run in which `work` happens. */
async function kept(work: (trace: RunTrace) => void, asked = 'Why?'): Promise<Run> {
  const history = createHistory(3)
  const trace = history.hiding([SECRET]).begin(question(asked))
  work(trace)
  trace.ended(ENDED, undefined)
  return Run.parse(await history.get(trace.id))
}

const asking = (...contents: string[]) => ({
  messages: contents.map((content) => ({ role: 'user' as const, content })),
  tools: [],
  sampling: {},
  chunks: [],
})

describe('What is kept of a run', () => {
  it('is bounded, whatever happens in it', async () => {
    const run = await kept((trace) => {
      for (let n = 0; n < 300; n += 1) {
        trace.searched(
          LONG,
          Array.from({ length: 300 }, (_, id) => ({ ...hitOf(`${id}`), text: LONG })),
        )
        trace.asked(asking(...Array.from({ length: 300 }, (_, id) => `${n} ${id} ${LONG}`)))
        trace.answered({ text: LONG, calls: [], reason: 'stop', usage: undefined })
        const call = { callId: '1', name: LONG, input: { words: LONG } }
        trace.called(call, { output: LONG, isError: false }, 1)
      }
    }, LONG)
    expect(run.question).toHaveLength(20_000 + '\n[30000 more characters]'.length)
    const { length } = JSON.stringify(run)
    expect(length).toBeGreaterThan(200_000)
    expect(length).toBeLessThan(2_000_000)
  })

  it('hides a secret also where a text is cut', async () => {
    for (const before of [19_990, 20_000, 39_990]) {
      const run = await kept(() => undefined, `${'y'.repeat(before)}${SECRET}`)
      expect(run.question).not.toContain('a-sec')
    }
  })

  it('is removed with the oldest run, and absent for an unknown run', async () => {
    const history = createHistory(2)
    const ids = ['a', 'b', 'c'].map((asked) => {
      const trace = history.hiding([]).begin(question(asked))
      trace.ended(ENDED, new Error('not to be shown'))
      return trace.id
    })
    const { runs } = await history.list({ limit: 50 })
    expect(runs.map(({ id }) => id)).toEqual([ids[2], ids[1]])
    expect((await history.get(ids[1] ?? '')).error).toBeUndefined()
    await expect(history.get(ids[0] ?? '')).rejects.toMatchObject({ code: 'run_not_found' })
  })

  it('is stored with other runs that end at about the same time', async () => {
    const { add } = store.runRecords
    const written: number[] = []
    const counted: RunStore = {
      ...store.runRecords,
      add(runs, maximum) {
        written.push(runs.length)
        return add(runs, maximum)
      },
    }
    const history = createRunHistory({ store: counted, maximum: 100, log })
    const ids = Array.from({ length: 25 }, (_, asked) => {
      const trace = history.hiding([]).begin(question(`${asked}`))
      trace.ended(ENDED, undefined)
      return trace.id
    })
    await expect.poll(() => store.runRecords.find(ids[24] ?? '')).toBeDefined()
    expect(written.length).toBeLessThan(4)
    const { runs } = await history.list({ limit: 25 })
    expect(runs.map(({ id }) => id)).toEqual(ids.toReversed())
  })
})
