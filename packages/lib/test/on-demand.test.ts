import { createOnDemand } from '@agent-server/lib/on-demand.ts'
import { expect, it } from 'vitest'

function openParts(idleMs = 60_000) {
  const started: number[] = []
  const ended: number[] = []
  const parts = createOnDemand({
    start: () => started.push(started.length + 1),
    end: (part) => ended.push(part),
    idleMs,
  })
  return { parts, started, ended }
}

const itself = async (part: number) => part

it('starts with the first use, and serves later ones with the same', async () => {
  const { parts, started } = openParts()
  expect(started).toEqual([])
  expect([await parts.use(itself), await parts.use(itself)]).toEqual([1, 1])
})

it('ends once idle, but not while it is used', async () => {
  const { parts, ended } = openParts(20)
  const { promise, resolve } = Promise.withResolvers<number>()
  const long = parts.use(() => promise)
  await parts.use(itself)
  await new Promise((go) => setTimeout(go, 60))
  expect(ended).toEqual([])
  resolve(1)
  await long
  await expect.poll(() => ended).toEqual([1])
  expect(await parts.use(itself)).toBe(2)
})

it('starts another after one was ended or ended by itself, and confuses no two', async () => {
  const { parts, ended } = openParts()
  const first = await parts.use(itself)
  await parts.stop()
  expect(ended).toEqual([1])
  const second = await parts.use(itself)
  parts.ended(first)
  expect(await parts.use(itself)).toBe(second)
  parts.ended(second)
  expect(await parts.use(itself)).toBe(3)
  expect(ended).toEqual([1])
})
