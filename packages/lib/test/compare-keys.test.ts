import { compareKeys } from '@agent-server/lib/compare-keys.ts'
import { expect, it } from 'vitest'
import { seededRandom } from '../../../test/documents/ingestion/random-text.ts'

it('finds the keys missing on either side, for any two sets', () => {
  for (let seed = 0; seed < 300; seed++) {
    const random = seededRandom(seed)
    const some = () => new Set(Array.from({ length: random(40) }, () => random(60)))
    const [held, known] = [some(), some()]
    const difference = compareKeys(toAscending(held), toAscending(known))
    expect(difference).toEqual({
      orphans: Array.from(toAscending(held)).filter((key) => !known.has(key)),
      missing: Array.from(toAscending(known)).filter((key) => !held.has(key)),
    })
  }
})

function toAscending(keys: ReadonlySet<number>): Uint32Array {
  return Uint32Array.from(keys).sort()
}
