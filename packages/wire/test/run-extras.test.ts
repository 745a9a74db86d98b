import type { RunEnd } from '@agent-server/wire'
import { toRunExtras } from '@agent-server/wire'
import { describe, expect, it } from 'vitest'
import { ARTIFACT, NOTHING_MORE } from '../../../test/support/artifact.ts'
import { hitOf } from '../../../test/support/hit.ts'

const end = (more: Partial<RunEnd> = {}): RunEnd => ({
  type: 'run-end',
  reason: 'stop',
  hits: [hitOf('a')],
  usage: undefined,
  ...NOTHING_MORE,
  ...more,
})

describe('The end of a run', () => {
  it('has hits and reason, and no empty field', () => {
    expect(toRunExtras(end())).toEqual({ hits: [hitOf('a')], finishReason: 'stop' })
  })

  it('has every field with a value', () => {
    const more = { degraded: true, reason: 'token_limit' } as const
    expect(toRunExtras(end({ ...more, artifacts: [ARTIFACT], limitsReached: ['tokens'] }))).toEqual(
      {
        hits: [hitOf('a')],
        finishReason: 'token_limit',
        artifacts: [ARTIFACT],
        limitsReached: ['tokens'],
        degraded: true,
      },
    )
  })
})
