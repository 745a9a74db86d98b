import { describe, expect, it } from 'vitest'
import { createChangeOrder } from '../../../src/indexes/qdrant/points.ts'

/** Changes that end when they are told to, and a diary of their beginnings and ends. */
function openDiary() {
  const order = createChangeOrder()
  const diary: string[] = []
  const begin = (name: string, keys: readonly number[]) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const done = order.run(keys, async () => {
      diary.push(`${name} begins`)
      await promise.finally(() => diary.push(`${name} ends`))
    })
    return { done, end: resolve, fail: reject }
  }
  return { begin, diary }
}

const turns = () => new Promise((resolve) => setImmediate(resolve))

describe('The order of changes', () => {
  it('lets those of other keys run at once', async () => {
    const { begin, diary } = openDiary()
    const changes = [begin('low', [1, 5]), begin('high', [6, 9])]
    await turns()
    expect(diary).toEqual(['low begins', 'high begins'])
    for (const { end } of changes) end()
    await Promise.all(changes.map(({ done }) => done))
  })

  it('lets those that may touch the same keys run one after another', async () => {
    const { begin, diary } = openDiary()
    const [first, second] = [begin('first', [1, 5]), begin('second', [5, 9])]
    await turns()
    second.end()
    first.end()
    await Promise.all([first.done, second.done])
    expect(diary).toEqual(['first begins', 'first ends', 'second begins', 'second ends'])
  })

  it('goes on after one that failed, whose caller alone hears of it', async () => {
    const { begin } = openDiary()
    const [first, second] = [begin('first', [1]), begin('second', [1])]
    second.end()
    const heard = expect(first.done).rejects.toThrow('broken')
    first.fail(new Error('broken'))
    await heard
    await second.done
  })

  it('waits for nothing where there are no keys', async () => {
    const { begin, diary } = openDiary()
    const held = begin('held', [1, 9])
    const empty = begin('empty', [])
    empty.end()
    await empty.done
    expect(diary).toContain('empty ends')
    held.end()
    await held.done
  })
})
