import { describe, expect, it } from 'vitest'
import { createSemaphore } from '../../../src/services/extraction/extractor.ts'

const never = () => new AbortController().signal

/** What has come of an entry so far. */
const stateOf = async (entry: Promise<unknown>) =>
  Promise.race([
    entry.then(
      () => 'in',
      (error: Error) => error.message,
    ),
    new Promise((resolve) => setImmediate(resolve, 'waiting')),
  ])

describe('Places', () => {
  it('are taken at once while there are any', async () => {
    const semaphore = createSemaphore(2)
    await semaphore.enter(never())
    await semaphore.enter(never())
    expect(await stateOf(semaphore.enter(never()))).toBe('waiting')
  })

  it('are handed on in order', async () => {
    const semaphore = createSemaphore(1)
    const leave = await semaphore.enter(never())
    const [second, third] = [semaphore.enter(never()), semaphore.enter(never())]
    leave()
    expect([await stateOf(second), await stateOf(third)]).toEqual(['in', 'waiting'])
    const leaveSecond = await second
    leaveSecond()
    expect(await stateOf(third)).toBe('in')
  })

  it('are not taken by someone who comes while one is handed on', async () => {
    const semaphore = createSemaphore(1)
    const leave = await semaphore.enter(never())
    const waiting = semaphore.enter(never())
    leave()
    const late = semaphore.enter(never())
    expect([await stateOf(waiting), await stateOf(late)]).toEqual(['in', 'waiting'])
  })

  it('are free again once everybody has left', async () => {
    const semaphore = createSemaphore(2)
    const leaves = await Promise.all([semaphore.enter(never()), semaphore.enter(never())])
    for (const leave of leaves) leave()
    const entries = [semaphore.enter(never()), semaphore.enter(never()), semaphore.enter(never())]
    expect(await Promise.all(entries.map(stateOf))).toEqual(['in', 'in', 'waiting'])
  })

  it('are waited for no longer by whoever gives up', async () => {
    const semaphore = createSemaphore(1)
    const leave = await semaphore.enter(never())
    const leaving = new AbortController()
    const gone = semaphore.enter(leaving.signal)
    const patient = semaphore.enter(never())
    leaving.abort(new Error('gave up'))
    expect(await stateOf(gone)).toBe('gave up')
    leave()
    expect(await stateOf(patient)).toBe('in')
  })

  it('are not for those who have given up before', async () => {
    const semaphore = createSemaphore(1)
    const signal = AbortSignal.abort(new Error('gave up'))
    expect(await stateOf(semaphore.enter(signal))).toBe('gave up')
    expect(await stateOf(semaphore.enter(never()))).toBe('in')
  })
})
