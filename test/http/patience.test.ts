import { expect, it, onTestFinished } from 'vitest'
import { createPatience } from '../../src/http/event-stream.ts'

const MILLISECONDS = 20
const never = new Promise(() => undefined)

function createForTest() {
  const patience = createPatience(MILLISECONDS)
  onTestFinished(patience.end)
  return patience
}

it('tells what settles in time from what does not, again and again', async () => {
  const patience = createForTest()
  expect(await patience.settles(Promise.resolve())).toBe(true)
  expect(await patience.settles(never)).toBe(false)
  expect(await patience.settles(never)).toBe(false)
  expect(await patience.settles(Promise.resolve())).toBe(true)
})

it('gives each promise the whole time', async () => {
  const patience = createForTest()
  const { promise, resolve } = Promise.withResolvers<void>()
  const started = performance.now()
  setTimeout(() => void patience.settles(never).then(() => resolve()), MILLISECONDS * 0.75)
  await promise
  expect(performance.now() - started).toBeGreaterThan(MILLISECONDS * 1.5)
})

it('throws what the promise is rejected with', async () => {
  const broken = Promise.reject(new Error('broken'))
  await expect(createForTest().settles(broken)).rejects.toThrow('broken')
})
