import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { ApiKeyCreated } from '@agent-server/schemas/operator/api-key.ts'
import { expect, it } from 'vitest'
import { speakingFor } from '../support/people.ts'
import { requester, startServer } from '../support/server.ts'
import { temporaryDirectory } from '../support/temporary-files.ts'

/** The columns with JSON that one request after the other has filled. */
const DAMAGED = {
  documents: ['metadata', 'access'],
  conversations: ['metadata', 'access'],
  api_keys: ['scopes', 'collections'],
  people: ['groups'],
}

const directory = await temporaryDirectory()

async function fill() {
  const server = await startServer({ DATA_DIR: directory })
  const ada = speakingFor(server, { name: 'ada', groups: ['staff'] })
  const access = ['user:ada']
  await server.ingest({ text: 'Owls hoot.', metadata: { year: 1811 }, access })
  await server.ingest({ text: 'Owls fly.', metadata: { year: 1812 }, access })
  for (const title of ['one', 'two']) {
    const created = await ada('/v1/conversations', { body: { title, metadata: { a: 'b' } } })
    const { id } = Object(await created.json())
    await ada(`/v1/conversations/${id}`, { body: { access: ['user:bob'] } })
  }
  const secrets: string[] = []
  for (const name of ['one', 'two']) {
    const body = { name, scopes: ['query'], collections: ['red'] }
    const made = await server.request('/admin/keys', { body })
    secrets.push(ApiKeyCreated.parse(await made.json()).secret)
  }
  await server.close()
  return secrets
}

/** In the last row of each table, as a disk may. */
function damage(tables: Readonly<Record<string, readonly string[]>>): void {
  const database = new DatabaseSync(join(directory, 'agent-server.db'))
  for (const [table, columns] of Object.entries(tables)) {
    for (const column of columns) {
      const last = `SELECT max(rowid) FROM "${table}" WHERE "${column}" IS NOT NULL`
      const change = `UPDATE "${table}" SET "${column}" = '{"x' WHERE rowid = (${last})`
      expect([column, database.prepare(change).run().changes]).toEqual([column, 1])
    }
  }
  database.close()
}

it('One damaged row takes no list and no search away, and lets nobody in', async () => {
  const secrets = await fill()
  damage(DAMAGED)
  const server = await startServer({ DATA_DIR: directory })
  const ada = speakingFor(server, { name: 'ada', groups: ['staff'] })
  const bob = speakingFor(server, { name: 'bob' })
  const lists = [
    server.request('/documents'),
    server.request('/admin/keys'),
    server.request('/admin/people'),
    server.request('/v1/files'),
    ada('/v1/conversations'),
    server.request('/query', { body: { query: 'owls' } }),
  ]
  for (const list of await Promise.all(lists)) {
    expect([new URL(list.url).pathname, list.status]).toEqual([expect.anything(), 200])
  }
  const { data: conversations } = Object(await (await ada('/v1/conversations')).json())
  expect(conversations).toHaveLength(2)
  const shared = await Promise.all(
    conversations.map(
      async ({ id }: { id: string }) => (await bob(`/v1/conversations/${id}`)).status,
    ),
  )
  expect(shared.toSorted()).toEqual([200, 404])
  const asked = secrets.map((secret) =>
    requester(server.url, secret)('/query', { body: { query: 'owls' } }),
  )
  const statuses = (await Promise.all(asked)).map(({ status }) => status)
  expect(statuses.toSorted()).toEqual([200, 401])
})
