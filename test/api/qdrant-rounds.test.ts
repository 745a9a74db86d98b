import { expect, it } from 'vitest'
import { queryEachWay, startWithVectors } from '../support/qdrant/question-rounds.ts'

it('A question takes one round to Qdrant, and two by words and meaning', async () => {
  const { qdrant, server } = await startWithVectors()
  // Beside the question servers look whether the collections are still there.
  const asked = () => qdrant.requests.filter(({ call }) => call.endsWith('/query')).length
  let before = 0
  const rounds: number[] = []
  await queryEachWay(server, {
    begin: () => (before = asked()),
    end: () => rounds.push(asked() - before),
  })
  expect(rounds).toEqual([1, 1, 2])
})
