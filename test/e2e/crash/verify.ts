import { DatabaseSync } from 'node:sqlite'
import type { Document } from '@agent-server/schemas/document.ts'
import { createAnalyser, embedded } from '@agent-server/search'
import { expect } from 'vitest'
import { createSource } from '../../../packages/search/test/contracts/chunk-index.fixture.ts'
import { listDocuments, search } from '../../support/knowledge.ts'
import { readMetrics } from '../../support/metrics.ts'
import { settledDocument, type TestServer } from '../../support/server.ts'
import type { Entry, ExpectedDocuments } from './expected-documents.ts'

/** Queries under way at a time. */
const CONCURRENCY = 8
/** Of the deleted documents, the last ones are asked for. */
const DELETED_ASKED = 200
const MAX_HITS = 100
/** Between two checks of everything: what changed last is asked for, and of the rest each time another part. */
const RECENT = 100
const PARTS = 5

/**
 * What is listed is what was acknowledged, no more and no less; what is ready is found whole, what is deleted is not.
 * With a `turn`, it searches for a part of it only.
 */
export async function expectKept(
  server: TestServer,
  expected: ExpectedDocuments,
  turn?: number,
): Promise<void> {
  const listed = await listAll(server)
  settleUncertain(expected, listed)
  const kept = expected.in('kept')
  expect(listed.map(({ id }) => id).toSorted()).toEqual(kept.map(({ id }) => id).toSorted())
  expect(listed.filter(({ status }) => status === 'failed')).toEqual([])

  const ready = new Map(
    listed.filter(({ status }) => status === 'ready').map((one) => [one.id, one]),
  )
  const found = kept.filter(({ id }) => ready.has(id))
  for (const { id, token, chunks } of found) {
    expect(ready.get(id)).toMatchObject({ title: token, chunks })
  }
  const ids = new Set(kept.map(({ id }) => id))
  await concurrently(partOf(found, turn), (entry) => expectFound(server, entry, ids))
  const deleted = expected.in('deleted').slice(-DELETED_ASKED)
  await concurrently(partOf(deleted, turn), async ({ token }) => {
    // In quotation marks, it is not corrected to that of another document.
    expect(await search(server, `"${token}"`, MAX_HITS), token).toEqual([])
  })
}

function partOf<Item>(items: readonly Item[], turn?: number): readonly Item[] {
  if (turn === undefined) return items
  return items.filter(
    (_item, index) => index >= items.length - RECENT || index % PARTS === turn % PARTS,
  )
}

/** Nothing is left to do: every document is ready, and the numbers that the server tells agree. */
export async function expectSettled(
  server: TestServer,
  expected: ExpectedDocuments,
): Promise<void> {
  settleUncertain(expected, await listAll(server))
  const kept = expected.in('kept')
  await concurrently(kept, async ({ id }) => {
    expect(await settledDocument(server.request, id)).toMatchObject({ status: 'ready' })
  })
  await expectKept(server, expected)
  const metrics = await readMetrics(server)
  const metric = (name: string) => metrics.get(`agent_server_${name}`)
  expect(metric('chunks')).toBe(countChunks(kept))
  expect(metric('documents{status="ready"}')).toBe(kept.length)
  for (const status of ['pending', 'processing', 'failed']) {
    expect(metric(`documents{status="${status}"}`)).toBe(0)
  }
}

/** What a stopped server has left on the disk: a sound document store, and an index of exactly its chunks. */
export async function expectOnDisk(data: string, expected: ExpectedDocuments): Promise<void> {
  const database = new DatabaseSync(`${data}/agent-server.db`, { readOnly: true })
  const rows = (sql: string) =>
    database
      .prepare(sql)
      .all()
      .map((row) => ({ ...row }))
  expect(rows('PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }])
  expect(rows('PRAGMA foreign_key_check')).toEqual([])
  expect(rows('SELECT * FROM jobs')).toEqual([])
  const chunks = rows(`SELECT id, count(*) AS chunks, count(DISTINCT ordinal) AS ordinals
    FROM chunks JOIN documents ON number = document GROUP BY document`)
  const kept = expected.in('kept')
  expect(new Map(chunks.map((row) => [row.id, [row.chunks, row.ordinals]]))).toEqual(
    new Map(kept.map((entry) => [entry.id, [entry.chunks, entry.chunks]])),
  )
  const keys = rows('SELECT key FROM chunks ORDER BY key').map(({ key }) => key)
  const meta = new Map(rows('SELECT * FROM meta').map(({ name, value }) => [name, String(value)]))
  database.close()
  expect(await keysOnDisk(data, meta)).toEqual(keys)
}

async function keysOnDisk(data: string, meta: ReadonlyMap<unknown, string>): Promise<number[]> {
  const source = Object.assign(createSource(), {
    identity: async () => meta.get('identity') ?? '',
    vectorsGeneration: async () => Number(meta.get('vectors_generation')),
  })
  const index = await embedded.create(
    {},
    {
      directory: `${data}/index`,
      analyser: createAnalyser('english').fingerprint,
      source,
      log: { warn: () => undefined },
      onCrash(error) {
        throw error
      },
    },
  )
  try {
    return Array.from(await index.keys())
  } finally {
    await index.close()
  }
}

/** A request without an answer has happened or not; the list says which. */
function settleUncertain(expected: ExpectedDocuments, listed: readonly Document[]): void {
  for (const entry of expected.in('adding')) {
    const found = listed.filter(({ title }) => title === entry.token)
    expect(found.length, 'one request makes at most one document').toBeLessThanOrEqual(1)
    entry.id = found[0]?.id ?? ''
    entry.standing = found[0] ? 'kept' : 'deleted'
  }
  const ids = new Set(listed.map(({ id }) => id))
  for (const entry of expected.in('deleting')) {
    entry.standing = ids.has(entry.id) ? 'kept' : 'deleted'
  }
}

async function listAll(server: TestServer): Promise<Document[]> {
  const documents: Document[] = []
  let cursor: string | undefined
  do {
    const more = cursor === undefined ? '' : `&cursor=${cursor}`
    const page = await listDocuments(server, `?limit=100${more}`)
    documents.push(...page.documents)
    cursor = page.nextCursor
  } while (cursor !== undefined)
  return documents
}

/** Its own word finds each of its chunks once, and no other chunk. */
async function expectFound(server: TestServer, { id, token, chunks }: Entry, kept: Set<string>) {
  const hits = await search(server, token, MAX_HITS)
  const expected = Array.from({ length: chunks }, (_, ordinal) => `${id}-1-${ordinal}`)
  expect(hits.map((hit) => hit.id).toSorted(), token).toEqual(expected.toSorted())
  expect(hits.filter(({ documentId }) => !kept.has(documentId))).toEqual([])
}

function countChunks(entries: readonly Entry[]): number {
  return entries.reduce((sum, { chunks }) => sum + chunks, 0)
}

async function concurrently<Item>(items: readonly Item[], work: (item: Item) => Promise<void>) {
  const queue = items.values()
  const runWorker = async () => {
    for (const item of queue) await work(item)
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, runWorker))
}
