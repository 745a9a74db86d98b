import { forCaller } from '@agent-server/schemas/visibility.ts'
import { expect, it } from 'vitest'
import { createVisibleKeys } from '../../src/sql/visible-keys.ts'

const unchanged = async () => [{ changes: 1 }]
const of = (collection: string) => forCaller({ collections: [collection] })

it('A look-up that fails for whoever asked first is made again for the others who wait for it', async () => {
  const readers: unknown[] = []
  const visibleKeys = createVisibleKeys(unchanged, async ({ reader }) => {
    readers.push(reader)
    if (reader === 'busy') throw new Error('Too many look-ups are waiting')
    return Uint32Array.of(7)
  })
  const first = visibleKeys({ ...of('red'), reader: 'busy' })
  const second = visibleKeys({ ...of('red'), reader: 'idle' })
  await expect(first).rejects.toThrow('Too many')
  expect(await second).toEqual(Uint32Array.of(7))
  expect(readers).toEqual(['busy', 'idle'])
})

it('Of more lists than are kept, the oldest are read anew', async () => {
  let reads = 0
  const visibleKeys = createVisibleKeys(unchanged, async () => {
    reads += 1
    return Uint32Array.of(reads)
  })
  for (let n = 1; n <= 1_001; n += 1) await visibleKeys(of(`c${n}`))
  for (let n = 2; n <= 1_001; n += 1) await visibleKeys(of(`c${n}`))
  expect(reads).toBe(1_001)
  await visibleKeys(of('c1'))
  expect(reads).toBe(1_002)
})

it('Lists with more keys than are kept leave room for the newest', async () => {
  let reads = 0
  const visibleKeys = createVisibleKeys(unchanged, async () => {
    reads += 1
    return new Uint32Array(1_500_000)
  })
  for (const name of ['a', 'b', 'c']) await visibleKeys(of(name))
  await visibleKeys(of('c'))
  await visibleKeys(of('b'))
  expect(reads).toBe(3)
  await visibleKeys(of('a'))
  expect(reads).toBe(4)
})
