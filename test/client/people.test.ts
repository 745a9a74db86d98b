import { expect, it } from 'vitest'
import { AgentServer, NotFoundError } from '../../packages/client/src/agent-server.ts'
import { speakingFor } from '../support/people.ts'
import { startServer, TEST_KEY } from '../support/server.ts'

const server = await startServer()

it('Lists the people who were here, page by page, limits what one may use, and removes them', async () => {
  for (const name of ['ada', 'bob']) await speakingFor(server, { name })('/documents')
  const { people } = new AgentServer({ baseURL: server.url, apiKey: TEST_KEY }).admin
  await expect
    .poll(async () => (await Array.fromAsync(people.list({ limit: 1 }))).map(({ id }) => id))
    .toEqual(['user:ada', 'user:bob'])
  expect(await people.update('user:ada', { tokensPerDay: 5 })).toMatchObject({ tokensPerDay: 5 })
  expect(await people.update('user:ada', { tokensPerDay: null })).not.toHaveProperty('tokensPerDay')
  expect(await people.delete('user:bob', { dryRun: true })).toBeDefined()
  await people.delete('user:bob', { handTo: 'user:ada' })
  expect((await Array.fromAsync(people.list())).map(({ id }) => id)).toEqual(['user:ada'])
  await expect(people.delete('user:bob')).rejects.toBeInstanceOf(NotFoundError)
})
