import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { z } from 'zod'
import { requester } from '../server.ts'
import type { ServerProcess } from '../server-process.ts'
import type { Belongings } from './calls.ts'

const SCOPES = ['query', 'chat', 'ingest', 'admin']
const SENTENCE = 'Owls hoot at night. They hunt mice in the forest. '
const LARGE = 1_000_000
/** Seven fill a request. */
const ITEMS = 7
const REQUESTS_OF_ITEMS = 5
const ARTIFACT_BYTES = 24_000_000
const ROWS = 200_000
const DOCUMENTS = 1_000
const AT_ONCE = 500

const Secret = z.looseObject({ id: z.string(), secret: z.string() })
const Id = z.looseObject({ id: z.string() })
const Items = z.looseObject({
  data: z.array(z.looseObject({ id: z.string(), role: z.string().optional() })),
})

/** A key, and what its holder has on the server. */
export interface Holder {
  name: string
  secret: string
  has: Belongings
}

/** One who has much and one who has little, on a server where much was done and used. */
export async function fillFairWorld(server: ServerProcess) {
  const greedy = await makeHolder(server, 'greedy', LARGE)
  const modest = await makeHolder(server, 'modest', SENTENCE.length)
  for (let from = 0; from < DOCUMENTS; from += AT_ONCE) {
    const documents = Array.from({ length: AT_ONCE }, (_, at) => ({
      title: `Note ${from + at}`,
      text: `Owls hoot at night, said keeper ${from + at}.`,
      metadata: { keeper: `k${from + at}` },
    }))
    await server.request('/documents/batch', { body: { documents } })
  }
  await server.ingest({ title: 'The last one', text: 'Every owl was heard.' })
  addRows(server.directory, [greedy, modest])
  return { greedy, modest }
}

async function makeHolder(server: ServerProcess, name: string, size: number) {
  const key = await server.request('/admin/keys', { body: { name, scopes: SCOPES } })
  const { id: owner, secret } = Secret.parse(await key.json())
  const request = requester(server.url, secret)
  const send = async (path: string, body?: unknown, form?: FormData): Promise<unknown> => {
    const response = form
      ? await fetch(`${server.url}${path}`, {
          method: 'POST',
          body: form,
          headers: { authorization: `Bearer ${secret}` },
        })
      : await request(path, { body })
    if (response.ok) return response.json()
    throw new Error(`${path}: ${response.status} ${await response.text()}`)
  }
  const idOf = async (path: string, body: unknown, form?: FormData) =>
    Id.parse(await send(path, body, form)).id

  const isWide = size >= LARGE
  const text = SENTENCE.repeat(size / SENTENCE.length)
  const form = new FormData()
  form.append('purpose', 'assistants')
  form.append('file', new Blob([text]), `${name}.md`)
  const document = await idOf('/documents?wait=50', { title: name, text })
  const file = await idOf('/v1/files', undefined, form)

  const conversation = await idOf('/v1/conversations', {})
  const item = { type: 'message', role: 'user', content: text }
  const items = Array.from({ length: isWide ? ITEMS : 1 }, () => item)
  for (let time = 0; time < (isWide ? REQUESTS_OF_ITEMS : 1); time += 1) {
    await send(`/v1/conversations/${conversation}/items`, { items })
  }

  const answered = await idOf('/v1/conversations', {})
  const messages = [{ role: 'user', content: 'owls?' }]
  await (await request('/chat', { body: { messages, conversation: { id: answered } } })).text()
  const { data } = Items.parse(await send(`/v1/conversations/${answered}/items`))
  const answer = data.find(({ role }) => role === 'assistant')?.id ?? ''
  await send('/feedback', { conversationId: answered, answerId: answer, rating: 'up' })

  const has: Belongings = {
    isWide,
    document,
    file,
    title: name,
    conversation,
    answered,
    answer,
    response: await idOf('/v1/responses', { input: 'owls?' }),
    artifact: `art_${owner.replace(/\W/g, '').padEnd(32, '0').slice(-32)}`,
    text,
  }
  return { name, secret, owner, has }
}

function addRows(directory: string, holders: readonly (Holder & { owner: string })[]): void {
  const day = Math.floor(Date.now() / 86_400_000)
  const numbers = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT ${ROWS})`
  using database = new DatabaseSync(join(directory, 'data', 'agent-server.db'), {
    timeout: 10_000,
  })
  database.exec(`
    INSERT INTO audit (at, who, action, targets)
      ${numbers} SELECT i, 'user:ada', 'read', '{"id":"' || i || '"}' FROM n;
    INSERT INTO model_usage (day, person, key, payer, groups, agent, model, hold, expires_at, calls,
        input_tokens, cached_tokens, output_tokens, cost, unpriced_calls)
      ${numbers} SELECT ${day}, 'user:' || i, '', '', '', 'agent', 'm', '', 0, 1, 1, 0, 1, 0, 1 FROM n;
  `)
  const add = database.prepare(`
    INSERT INTO artifacts (id, kind, owner, name, media_type, size, created_at, bytes)
      VALUES (?, 'artifact', ?, 'a.bin', 'application/octet-stream', ?, ?, ?)`)
  for (const { owner, has } of holders) {
    const bytes = randomBytes(has.isWide ? ARTIFACT_BYTES : 10)
    add.run(has.artifact, owner, bytes.length, Date.now(), bytes)
  }
}
