import { createOrder } from '@agent-server/lib/in-order.ts'
import { expect, it } from 'vitest'

it('runs jobs one after another, also after a failure, which only its caller receives', async () => {
  const inOrder = createOrder()
  const diary: string[] = []
  const first = Promise.withResolvers<void>()
  const failed = inOrder(() => first.promise.finally(() => diary.push('first ends')))
  const second = inOrder(() => diary.push('second'))
  await new Promise((resolve) => setImmediate(resolve))
  expect(diary).toEqual([])
  const heard = expect(failed).rejects.toThrow('broken')
  first.reject(new Error('broken'))
  await heard
  expect(await second).toBe(2)
  expect(diary).toEqual(['first ends', 'second'])
})
