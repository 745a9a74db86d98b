import { expect, it } from 'vitest'
import { AgentServer, NotFoundError } from '../../packages/client/src/agent-server.ts'
import { startServer, TEST_KEY } from '../support/server.ts'

const server = await startServer()
const { evaluation } = new AgentServer({ baseURL: server.url, apiKey: TEST_KEY })

it('Judged questions are added, replaced, imported, listed and deleted', async () => {
  const { questions } = evaluation
  const made = await questions.create({ question: 'Who?', relevant: [{ documentId: 'owls' }] })
  const kept = await questions.put('counted', { question: 'Who counts?', facts: [] })
  expect(await questions.list()).toEqual([made, kept])
  const [changed] = await questions.import([
    { id: 'counted', question: 'Who counts it?', facts: [] },
  ])
  expect(changed).toMatchObject({ question: 'Who counts it?', createdAt: kept.createdAt })
  await questions.delete(made.id)
  await expect(questions.delete(made.id)).rejects.toThrow(NotFoundError)
  expect(await questions.list()).toEqual([changed])
})

it('An evaluation is begun, followed, listed, compared and cancelled', async () => {
  const { questions, runs } = evaluation
  await questions.create({ question: 'Who hoots?', relevant: [{ documentId: 'owls' }] })
  const done = async () => {
    const { id } = await runs.create({ name: 'By words', mode: 'lexical' })
    await expect.poll(async () => (await runs.get(id)).state, { timeout: 20_000 }).toBe('done')
    return id
  }
  const [before, now] = [await done(), await done()]
  expect((await runs.list()).map(({ id }) => id)).toEqual([now, before])
  expect((await runs.get(now)).questions?.search).toHaveLength(1)
  expect(await runs.compare(before, now)).toMatchObject({
    before: { id: before },
    now: { id: now },
  })
  expect(await runs.cancel(now)).toMatchObject({ state: 'done', name: 'By words' })
  await expect(runs.cancel('unknown')).rejects.toThrow(NotFoundError)
})
