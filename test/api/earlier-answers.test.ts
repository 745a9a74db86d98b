import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, it } from 'vitest'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer } from '../support/server.ts'
import { temporaryDirectory } from '../support/temporary-files.ts'
import { textReply } from '../support/upstream-replies.ts'

/** Members of a stored answer that a version before did not write, as they stand in its JSON. */
const NEWER = [/"by":"(?:model|server)",/g]

it('What an earlier version stored of cited answers can be read', async () => {
  const upstream = await startScriptedUpstream()
  const variables = { ...modelAt(upstream), DATA_DIR: await temporaryDirectory() }
  const before = await startServer(variables)
  await before.ingest({ text: 'Owls hunt at night.' })
  upstream.always(textReply('Owls hunt at night [1].'))
  const conversation = Object(
    await (await before.request('/v1/conversations', { body: {} })).json(),
  )
  const body = { model: 'agent', input: 'When do owls hunt?', conversation: conversation.id }
  expect((await before.request('/v1/responses', { body })).status).toBe(200)
  await before.close()

  const database = new DatabaseSync(join(variables.DATA_DIR, 'agent-server.db'))
  const rows = database.prepare('SELECT number, json FROM conversation_items').all()
  for (const { number, json } of rows) {
    const earlier = NEWER.reduce((text, member) => text.replaceAll(member, ''), String(json))
    database
      .prepare('UPDATE conversation_items SET json = ? WHERE number = ?')
      .run(earlier, Number(number))
  }
  database.close()

  const server = await startServer(variables)
  const items = await server.request(`/v1/conversations/${conversation.id}/items`)
  const text = await items.text()
  expect([items.status, text.includes('"by"')]).toEqual([200, false])
  expect(text).toContain('"quotes":[{"text":"Owls hunt at night."')
})
