import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { FAILURE_CODES } from '../../../src/services/ingestion/retry-policy.ts'
import { SPLIT_LIMITS } from '../../../src/services/ingestion/split/pack-units.ts'

const page = await readFile(new URL('../../../docs/ingestion.md', import.meta.url), 'utf8')

describe('docs/ingestion.md', () => {
  it('explains every code that a failed document may carry, and no other', () => {
    const explained = Array.from(page.matchAll(/^\| `([a-z_]+)` \|/gm), ([, code]) => code)
    expect(explained).toEqual([...FAILURE_CODES])
  })

  it('tells the sizes of passages as they are', () => {
    const { tokens, overlap, least, enough } = SPLIT_LIMITS
    expect(page).toContain(`at most ${tokens} tokens. A last one of less than ${least}`)
    expect(page).toContain(`once the one before holds ${enough} tokens`)
    expect(page).toContain(`repeats up to ${overlap} tokens`)
  })
})
