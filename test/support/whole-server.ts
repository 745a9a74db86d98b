import { DocumentList } from '@agent-server/schemas/document.ts'
import { AgentFile } from '@agent-server/schemas/operator/admin.ts'
import { AuditEntry } from '@agent-server/schemas/operator/audit.ts'
import { expect } from 'vitest'
import { z } from 'zod'
import { readChat } from './chat-reader.ts'
import { endedEvaluation } from './evaluations.ts'
import { sendFile } from './forms.ts'
import type { TestServer } from './server.ts'

const Id = z.looseObject({ id: z.string() })
const Listed = z.looseObject({ data: z.array(Id) })

/** Puts one of everything into a server whose chat model answers, over HTTP. */
export async function fillWhole(server: TestServer): Promise<void> {
  const { request, ingest } = server
  const ok = async (path: string, options?: Parameters<TestServer['request']>[1]) => {
    const response = await request(path, options)
    expect([path, response.status < 300]).toEqual([path, true])
    return response
  }
  const cars = await ingest({
    title: 'Cars',
    text: 'A car needs fuel and four wheels.',
    metadata: { year: 1998, old: true },
  })
  await ingest({ title: 'Sätze', text: 'Ein Satz über Autos und Ärzte. '.repeat(400) })
  await ok('/collections', { body: { name: 'birds', access: ['group:staff'] } })
  await ingest({ text: 'Owls hunt at night.', collection: 'birds', access: ['user:ada'] })
  const bytes = Buffer.from('# Rivers\n\nThe Rhine is long.')
  expect((await sendFile(server, { name: 'rivers.md', bytes })).status).toBeLessThan(300)

  await ok('/admin/keys', { body: { name: 'Desk', scopes: ['chat'], collections: ['birds'] } })
  for (const prompt of ['Be brief.', 'Be kind.']) {
    const { digest } = AgentFile.parse(await (await ok('/admin/agent')).json())
    const body = { text: JSON.stringify({ prompt }), basedOn: digest }
    await ok('/admin/agent', { method: 'PUT', body })
  }

  const { id } = Id.parse(await (await ok('/v1/conversations', { body: {} })).json())
  const messages = [{ role: 'user', content: 'What does a car need?' }]
  const { frames } = await readChat(await ok('/chat', { body: { messages, conversation: { id } } }))
  const [first] = frames
  if (first?.frame.type !== 'turn-start') throw new Error('The turn does not start')
  const { answerId } = first.frame
  await ok('/feedback', { body: { conversationId: id, answerId, rating: 'up', comment: 'Good' } })
  await ok('/v1/responses', { body: { model: 'agent', input: 'What does a car need?' } })
  const question = { question: 'What does a car need?', relevant: [{ documentId: cars }] }
  await ok('/evaluation/questions', { body: question })
  await ok('/evaluation/runs', { body: {} })
  await endedEvaluation({ request })
}

const LISTS = [
  '/v1/conversations',
  '/feedback',
  '/evaluation/questions',
  '/evaluation/runs',
  '/admin/runs',
  '/admin/keys',
  '/admin/usage',
  '/admin/people',
  '/admin/agent/versions',
]

/** All that one who has the key can see of what a server holds, of documents and what was done to them those that count. */
export async function seenWhole(
  { request }: TestServer,
  counts: (documentId: string) => boolean = () => true,
): Promise<Record<string, unknown>> {
  const seen: Record<string, unknown> = {}
  const see = async (path: string) => {
    const response = await request(path)
    const text = await response.text()
    seen[path] = [response.status, text.startsWith('{') ? JSON.parse(text) : text]
    return text
  }
  for (const path of LISTS) await see(path)
  const list = DocumentList.parse(await (await request('/documents?limit=100')).json())
  const documents = list.documents.filter(({ id }) => counts(id))
  const audit = (await (await request('/admin/audit/export')).text()).trim().split('\n')
  const entries = audit
    .map((line) => AuditEntry.parse(JSON.parse(line)))
    .filter(({ action, targets }) => action !== 'exportAudit' && counts(String(targets.id ?? '')))
  Object.assign(seen, { documents, entries })
  const agent = AgentFile.parse(await (await request('/admin/agent')).json())
  seen.agent = agent.text
  for (const { id, file } of documents) {
    for (const part of ['text', 'chunks', ...(file ? ['file'] : [])])
      await see(`/documents/${id}/${part}`)
  }
  for (const { id } of Listed.parse(JSON.parse(await see('/v1/conversations'))).data) {
    await see(`/v1/conversations/${id}/items`)
  }
  for (const query of ['car', 'owls at night', 'Ärzte']) {
    const hits = await request('/query', { body: { query, limit: 3 } })
    seen[query] = await hits.json()
  }
  return seen
}
