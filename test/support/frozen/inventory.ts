import { hash } from 'node:crypto'
import { DocumentList } from '@agent-server/schemas/document.ts'
import { QueryResponse } from '@agent-server/schemas/query.ts'
import { expect } from 'vitest'
import { z } from 'zod'
import { ConversationItemList } from '../../../src/dialects/conversations/schema.ts'
import { speakingFor } from '../people.ts'
import type { TestServer } from '../server.ts'

/** Paths of lists, each with the field that has its entries, and what of an entry stays the same in later versions. */
const LISTS: readonly [path: string, entries: string, field: string][] = [
  ['/v1/conversations?limit=100', 'data', 'id'],
  ['/feedback', 'feedback', 'comment'],
  ['/evaluation/questions', 'questions', 'question'],
  ['/evaluation/runs', 'runs', 'state'],
  ['/admin/runs', 'runs', 'question'],
  ['/admin/keys', 'keys', 'name'],
  ['/admin/people', 'people', 'id'],
  ['/admin/agent/versions', 'versions', 'digest'],
  ['/admin/usage?by=model', 'rows', 'model'],
  ['/admin/usage?by=group', 'rows', 'group'],
  ['/admin/audit?limit=200', 'entries', 'action'],
  ['/collections', 'collections', 'name'],
  ['/v1/vector_stores', 'data', 'name'],
]
const SETTLE_MS = 60_000
const QUESTIONS = ['wheels of a car', 'owls at night', 'kites over fields', 'days of leave']
type Listed = z.output<typeof DocumentList>['documents'][number]

const Entries = z.array(z.record(z.string(), z.unknown()))
const Json = z.record(z.string(), z.unknown())

/** All things that somebody with the key finds over HTTP, in a form that does not change with wording or ranking. */
export async function inventoryOf(server: Pick<TestServer, 'request'>): Promise<unknown> {
  const { request } = server
  const read = async (path: string, body?: object) => {
    const response = await request(path, body && { body })
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return response
  }
  const lists: Record<string, unknown[]> = {}
  for (const [path, entries, field] of LISTS) {
    const list = Json.parse(await (await read(path)).json())
    lists[path] = Entries.parse(list[entries]).map((entry) => entry[field] ?? null)
  }
  const list = async () =>
    DocumentList.parse(await (await read('/documents?limit=100')).json()).documents
  // Of those that waited, too.
  await expect
    .poll(async () => (await list()).some(({ status }) => /^p/.test(status)), {
      timeout: SETTLE_MS,
    })
    .toBe(false)
  const documents = await list()
  const things: Record<string, unknown> = {}
  for (const document of documents) things[document.id] = await thingOf(document, read)
  const ada = speakingFor(server, { name: 'ada', groups: ['staff'] })
  const own = JSON.stringify(await (await ada('/v1/conversations')).json())
  const [, id = ''] = /"id":"(conv_\w+)"/.exec(own) ?? []
  const chart = await (await ada(`/v1/conversations/${id}/items`)).text()
  const [link = ''] = /\/artifacts\/art_[\w/?=&-]+/.exec(chart) ?? []
  const picture = await (await ada(link)).arrayBuffer()
  const shared = { id, access: /"access":\["group:staff"\]/.test(own), bytes: picture.byteLength }
  const items: Record<string, unknown> = {}
  for (const id of lists['/v1/conversations?limit=100'] ?? []) {
    const list = await (await read(`/v1/conversations/${id}/items`)).json()
    items[String(id)] = ConversationItemList.parse(list).data.map(({ type }) => type)
  }
  const found: Record<string, unknown> = {}
  for (const query of QUESTIONS) {
    const { hits } = QueryResponse.parse(await (await read('/query', { query, limit: 1 })).json())
    found[query] = hits[0]?.documentId
  }
  return JSON.parse(JSON.stringify({ lists, documents: things, items, shared, found }))
}

/** A document without what is told of its processing. */
async function thingOf(
  { id, title, status, metadata, file }: Listed,
  read: (path: string) => Promise<Response>,
) {
  const text = status === 'ready' ? await (await read(`/documents/${id}/text`)).text() : ''
  const bytes = file && Buffer.from(await (await read(`/documents/${id}/file`)).arrayBuffer())
  const digests = [hash('sha256', text), bytes && hash('sha256', bytes)]
  return { title, status, metadata, digests }
}
