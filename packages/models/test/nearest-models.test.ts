import { untilAborted } from '@agent-server/lib/abort.ts'
import { expect, it } from 'vitest'
import { insteadOf, nearestModels } from '../src/nearest-models.ts'

const signal = () => new AbortController().signal
const hanging = (stop: AbortSignal) => untilAborted(new Promise<never>(() => undefined), stop)
const listOf =
  (...ids: string[]) =>
  async () =>
    ids.map((id) => ({ id }))
const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)

it('names at most five models, the nearest first', async () => {
  const list = listOf(
    'o9',
    'gpt-6.1-terra',
    'gpt-6-luna',
    'gpt-5.4-mini',
    'gpt-5.6-luna',
    'gpt-6.1-sol',
    'gpt-6-astra',
  )
  const nearest = await nearestModels(list, 'gpt-5-mini', signal())
  expect(nearest).toHaveLength(5)
  expect(nearest.slice(0, 2)).toEqual(['gpt-5.4-mini', 'gpt-6-luna'])
  expect(nearest).not.toContain('o9')
})

it('leaves out models that close soon, models for something else, and what is no name', async () => {
  const list = async () => [
    { id: 'gpt-5', closesOn: inDays(12) },
    { id: 'gpt-5.1', closesOn: inDays(120) },
    { id: 'gpt-5-mini-tts' },
    { id: 'text-embedding-3-small' },
    { id: 'gpt-5 <b>' },
    { id: 'x'.repeat(200) },
  ]
  expect(await nearestModels(list, 'gpt-5-mini', signal())).toEqual(['gpt-5.1'])
})

it('names embedding models where one is missing', async () => {
  const list = listOf('text-embedding-3-small', 'gpt-6-luna')
  const [nearest] = await nearestModels(list, 'text-embedding-ada-002', signal())
  expect(nearest).toBe('text-embedding-3-small')
})

it('names none where the list fails or takes too long', async () => {
  const failing = () => Promise.reject(new Error('no list'))
  expect(await nearestModels(failing, 'gpt-5-mini', signal())).toEqual([])
  const begun = performance.now()
  expect(await nearestModels(hanging, 'gpt-5-mini', signal())).toEqual([])
  expect(performance.now() - begun).toBeLessThan(6_000)
})

it('throws the reason of a caller who leaves', async () => {
  const reason = new Error('left')
  await expect(nearestModels(hanging, 'gpt-5-mini', AbortSignal.abort(reason))).rejects.toBe(reason)
})

it.each([
  [[], ''],
  [['gpt-6-luna', 'gpt-6.1-terra'], '. The key can use gpt-6-luna, gpt-6.1-terra'],
])('adds to a failure what can be used instead: %j', (nearest, words) => {
  expect(insteadOf(nearest)).toBe(words)
})
