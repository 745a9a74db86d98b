import { describe, expect, it } from 'vitest'
import type { RunEnd } from '../../../src/services/agent/agent-event.ts'
import { toRunExtras } from '../../../src/services/chat/completions.ts'
import { ARTIFACT } from '../agent/artifact.ts'
import { hitOf } from '../agent/hit.ts'

const end = (more: Partial<RunEnd> = {}): RunEnd => ({
  ...{ type: 'run-end', reason: 'stop', hits: [hitOf('a')], usage: undefined },
  ...more,
})

describe('The end of a run', () => {
  it('tells hits and reason, and nothing that there is not', () => {
    const nothing = { artifacts: [], limitsReached: [], degraded: false }
    for (const more of [{}, nothing]) {
      expect(toRunExtras(end(more))).toEqual({ hits: [hitOf('a')], finishReason: 'stop' })
    }
  })

  it('tells what there is', () => {
    const more = { artifacts: [ARTIFACT], limitsReached: ['tokens'], degraded: true } as const
    expect(toRunExtras(end({ ...more, reason: 'token_limit' }))).toEqual({
      ...{ hits: [hitOf('a')], finishReason: 'token_limit' },
      ...{ artifacts: [ARTIFACT], limitsReached: ['tokens'], degraded: true },
    })
  })
})
