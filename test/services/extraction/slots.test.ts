import { describe, expect, it } from 'vitest'
import { createSlots } from '../../../src/services/extraction/extractor.ts'

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
    const slots = createSlots(2)
    await slots.enter(never())
    await slots.enter(never())
    expect(await stateOf(slots.enter(never()))).toBe('waiting')
  })

  it('are handed on in order', async () => {
    const slots = createSlots(1)
    const leave = await slots.enter(never())
    const [second, third] = [slots.enter(never()), slots.enter(never())]
    leave()
    expect([await stateOf(second), await stateOf(third)]).toEqual(['in', 'waiting'])
    const leaveSecond = await second
    leaveSecond()
    expect(await stateOf(third)).toBe('in')
  })

  it('are not taken by someone who comes while one is handed on', async () => {
    const slots = createSlots(1)
    const leave = await slots.enter(never())
    const waiting = slots.enter(never())
    leave()
    const late = slots.enter(never())
    expect([await stateOf(waiting), await stateOf(late)]).toEqual(['in', 'waiting'])
  })

  it('are free again once everybody has left', async () => {
    const slots = createSlots(2)
    const leaves = await Promise.all([slots.enter(never()), slots.enter(never())])
    for (const leave of leaves) leave()
    const entries = [slots.enter(never()), slots.enter(never()), slots.enter(never())]
    expect(await Promise.all(entries.map(stateOf))).toEqual(['in', 'in', 'waiting'])
  })

  it('are waited for no longer by whoever gives up', async () => {
    const slots = createSlots(1)
    const leave = await slots.enter(never())
    const leaving = new AbortController()
    const gone = slots.enter(leaving.signal)
    const patient = slots.enter(never())
    leaving.abort(new Error('gave up'))
    expect(await stateOf(gone)).toBe('gave up')
    leave()
    expect(await stateOf(patient)).toBe('in')
  })

  it('are not for those who have given up before', async () => {
    const slots = createSlots(1)
    const signal = AbortSignal.abort(new Error('gave up'))
    expect(await stateOf(slots.enter(signal))).toBe('gave up')
    expect(await stateOf(slots.enter(never()))).toBe('in')
  })
})
