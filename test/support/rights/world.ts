import { batched } from '@agent-server/lib/batches.ts'
import { DocumentList } from '@agent-server/schemas/document.ts'
import { DocumentBatchResult } from '@agent-server/schemas/document-batch.ts'
import { vi } from 'vitest'
import { speakingFor, type TestPerson } from '../people.ts'
import { createRandom } from '../random.ts'
import type { TestServer } from '../server.ts'
import { createTruth, type TrueCollection, type TrueDocument } from './truth.ts'

interface WorldSize {
  documents: number
  people: number
  groups: number
}

/** A company. */
export const COMPANY: WorldSize = { documents: 10_000, people: 200, groups: 40 }
/** The values of a field that all documents have. */
export const PARTS = ['north', 'east', 'south', 'west']

const BATCH = 100
const INGESTION_MS = 600_000
const SHARED = 6
/** Documents of keys are in these, too. */
const UNSHARED = 'unshared'

export interface WorldDocument extends TrueDocument {
  part: string
}

/** A document before it has an id; `by` is the place of the person who adds it, or it is a key's. */
type Planned = Omit<WorldDocument, 'id' | 'creator'> & { by?: number }

/** Fills a server with documents of people who share them at random, and says what is true of them. */
export async function fillWorld(server: TestServer, size: WorldSize, seed = 7) {
  const { people, collections, planned } = planWorld(size, seed)
  for (const body of collections) {
    const created = await server.request('/collections', { body })
    if (created.status !== 201) throw new Error(await created.text())
  }
  const documents: WorldDocument[] = []
  for (const [by, own] of Map.groupBy(planned, (each) => each.by)) {
    const person = by === undefined ? undefined : people[by]
    for (const batch of batched(own, BATCH))
      documents.push(...(await addAll(server, batch, person)))
  }
  await vi.waitUntil(async () => (await countReady(server)) === size.documents, {
    timeout: INGESTION_MS,
    interval: 100,
  })
  return { people, documents, collections, truth: createTruth(collections) }
}

export type World = Awaited<ReturnType<typeof fillWorld>>

function planWorld(size: WorldSize, seed: number) {
  const { below, next, pick } = createRandom(seed)
  const some = (most: number) => [
    ...new Set(Array.from({ length: below(most + 1) }, () => `g${below(size.groups)}`)),
  ]
  const entries = () => [
    ...some(2).map((group) => `group:${group}`),
    ...(next() < 0.4 ? [`user:p${below(size.people)}`] : []),
    ...(next() < 0.05 ? ['public'] : []),
  ]
  const people = Array.from(
    { length: size.people },
    (_, i): TestPerson => ({ name: `p${i}`, groups: some(3) }),
  )
  const collections = Array.from(
    { length: SHARED },
    (_, i): TrueCollection => ({
      name: `c${i}`,
      access: entries(),
      contributors: [...entries(), `user:p${i}`],
      owners: entries(),
    }),
  )
  /** A third each in a person's own place, in a collection where the person contributes, and of a key anywhere. */
  const placeOf = (kind: number): Pick<Planned, 'by' | 'collection'> => {
    const by = below(SHARED)
    if (kind === 0) return { by: below(size.people) }
    if (kind === 1) return { by, collection: `c${by}` }
    return [{}, { collection: UNSHARED }, { collection: `c${by}` }][below(3)] ?? {}
  }
  const planned = Array.from({ length: size.documents }, (_, i): Planned => {
    const access = next() < 0.5 && { access: [...new Set(entries())].sort() }
    const part = pick(PARTS) ?? ''
    return { word: `zq${i.toString(36)}x`, part, ...placeOf(below(3)), ...access }
  })
  return { people, collections, planned }
}

async function addAll(
  server: TestServer,
  batch: readonly Planned[],
  person: TestPerson | undefined,
): Promise<WorldDocument[]> {
  const body = batch.map(({ word, part, by: _, ...rights }) => ({
    text: `A report about gannets, of which ${word} is the keeper. ${word} counts them.`,
    title: `Report ${word}`,
    metadata: { keeper: word, part },
    ...rights,
  }))
  const request = person ? speakingFor(server, person) : server.request
  const response = await request('/documents/batch', { body })
  const { results } = DocumentBatchResult.parse(await response.json())
  return batch.map(({ by: _, ...document }, i) => {
    const result = results[i]
    if (!result || !('id' in result)) throw new Error(JSON.stringify(result))
    return { ...document, id: result.id, ...(person && { creator: person.name }) }
  })
}

async function countReady({ request }: TestServer) {
  const list = await request('/documents?status=ready&limit=1&total=true')
  return DocumentList.parse(await list.json()).total
}
