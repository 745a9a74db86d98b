import { expect, it } from 'vitest'
import { Background } from '../../src/compose/background.ts'

it('logs work that ends early, and waits for the rest', async () => {
  const lines: unknown[] = []
  const background = new Background({ error: (...line: unknown[]) => void lines.push(line) })
  const { promise, resolve } = Promise.withResolvers<void>()
  const failure = new Error('broken')
  background.add(Promise.reject(failure), promise)
  let hasEnded = false
  const ended = background.ended().then(() => {
    hasEnded = true
  })
  await expect.poll(() => lines).toHaveLength(1)
  expect(lines[0]).toEqual([{ err: failure }, expect.stringContaining('background work has ended')])
  expect(hasEnded).toBe(false)
  resolve()
  await ended
})
