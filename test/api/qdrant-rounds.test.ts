import { expect, it } from 'vitest'
import { queryEachWay, startWithVectors } from '../support/qdrant/question-rounds.ts'

it('A question takes at most two rounds to Qdrant, and by meaning alone one', async () => {
  const { qdrant, server } = await startWithVectors()
  let before = 0
  const rounds: number[] = []
  await queryEachWay(server, {
    begin: () => (before = qdrant.requests.length),
    end: () => rounds.push(qdrant.requests.length - before),
  })
  expect(rounds).toEqual([2, 1, 2])
})
