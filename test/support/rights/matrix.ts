import { CollectionList } from '@agent-server/schemas/collection.ts'
import { DocumentList } from '@agent-server/schemas/document.ts'
import { expect } from 'vitest'
import { type ContractOperation, operationsOf, readContract } from '../contract.ts'
import { speakingFor, type TestPerson } from '../people.ts'
import { createRandom, type Random } from '../random.ts'
import type { TestServer } from '../server.ts'
import { listAll } from './lists.ts'
import { CALLS, type RightsCall } from './operations.ts'
import { askingFor } from './tools.ts'
import type { TrueDocument } from './truth.ts'
import { PARTS, type World, type WorldDocument } from './world.ts'

/** One request of a person about a document, and what came back. */
export interface Exchange {
  call: RightsCall
  person: TestPerson
  document: TrueDocument
  status: number
  /** What the request says itself may come back in its answer. */
  sent: string
  text: string
}

interface Sample {
  /** How many people are asked for, each about a document that they may read and one that they may not. */
  people: number
  /** Of these, every such one asks the agent, which takes long, and what tells of no document. */
  rareEvery: number
}

const AT_ONCE = 4

/** Asks every operation about documents, each as people who may read it and as some who may not. */
export async function askOperations(server: TestServer, world: World, sample: Sample) {
  const judge = createJudge(world)
  const outcome = { asked: 0, leaks: [] as string[], refusals: [] as string[] }
  const waiting = callsOf(await personalOperations(server), world, sample)
  const askRest = async () => {
    for (const { operation, call, ...pair } of waiting) {
      const exchange = await ask(server, operation, call, pair)
      const { sent, status, text } = exchange
      const what = `${pair.person.name} ${operation.operationId} ${sent}: ${status} ${text.slice(0, 300)}`
      outcome.asked++
      if (judge.leaks(exchange)) outcome.leaks.push(what)
      if (judge.refuses(exchange)) outcome.refusals.push(what)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, askRest))
  return outcome
}

interface Turn {
  operation: ContractOperation
  person: TestPerson
  /** The how manieth asks. */
  place: number
}

/** Of the calls of an operation, each person makes the next one; which documents they are about follows from a seed. */
function* callsOf(operations: readonly ContractOperation[], world: World, sample: Sample) {
  const { pick } = createRandom(11)
  for (const operation of operations) {
    for (const [place, person] of world.people.slice(0, sample.people).entries()) {
      yield* callsIn({ operation, person, place }, world, { ...sample, pick })
    }
  }
}

function callsIn(
  { operation, person, place }: Turn,
  world: World,
  { pick, rareEvery }: Sample & Pick<Random, 'pick'>,
) {
  return documentsFor(pick, world, person).flatMap((document) => {
    const call = callOf(operation, document, place)
    if (!call || (isRare(operation, call) && place % rareEvery > 0)) return []
    // What would take effect is left out: the truth stays as it is.
    const hasEffect = call.changes && world.truth.changes(person, document)
    return hasEffect ? [] : [{ operation, call, person, document }]
  })
}

const isRare = ({ operationId = '' }: ContractOperation, { isSlow }: RightsCall) =>
  isSlow === true || !CALLS[operationId]

function callOf({ operationId = '' }: ContractOperation, document: TrueDocument, place: number) {
  const calls: RightsCall[] = CALLS[operationId]?.(document) ?? [{}]
  return calls[place % calls.length]
}

/** One that somebody may read, and one that they may not, where there are such. */
function documentsFor(pick: Random['pick'], { documents, truth }: World, person: TestPerson) {
  return [true, false].flatMap(
    (isSeen) => pickThat(pick, documents, (each) => truth.reads(person, each) === isSeen) ?? [],
  )
}

const MAX_ATTEMPTS = 10_000

/** Undefined where there is none, or hardly one. */
function pickThat(
  pick: Random['pick'],
  documents: readonly TrueDocument[],
  fits: (document: TrueDocument) => boolean,
): TrueDocument | undefined {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const document = pick(documents)
    if (document && fits(document)) return document
  }
  return undefined
}

/** Operations that a person may ask by their scopes; administration is refused whole. */
async function personalOperations(server: TestServer): Promise<ContractOperation[]> {
  const isPersonal = ({ security }: ContractOperation) =>
    !security?.length || security.some(({ key = [] }) => !key.includes('admin'))
  return operationsOf(await readContract(server)).filter(isPersonal)
}

export async function ask(
  server: TestServer,
  operation: ContractOperation,
  call: RightsCall,
  { person, document }: Pick<Exchange, 'person' | 'document'>,
): Promise<Exchange> {
  const { path, shows: _, changes: __, isSlow: ___, ...options } = call
  const ownPath = operation.path.replaceAll(/\{\w+\}/g, encodeURIComponent(document.id))
  const address = path ?? ownPath
  const body = options.body ?? (operation.requestBody && {})
  const response = await speakingFor(server, person)(address, {
    method: operation.method,
    ...options,
    body,
  })
  const sent = `${address} ${JSON.stringify(body ?? '')}`
  return { call, person, document, status: response.status, sent, text: await response.text() }
}

function createJudge({ documents, truth }: Pick<World, 'documents' | 'truth'>) {
  const byWord = new Map(documents.map((document) => [document.word, document]))

  /** Whether an answer names a document that its reader may not read. */
  const namesHidden = ({ text, person, sent }: Exchange) =>
    wordsIn(text).some((word) => {
      const named = byWord.get(word)
      return named && !truth.reads(person, named) && !sent.includes(word)
    })
  /** Whether a change is refused in another way than by the role, or as if there were no document. */
  const refusedWrongly = ({ call, text, person, document }: Exchange) => {
    const code = truth.reads(person, document) ? 'not_permitted' : 'document_not_found'
    return call.changes === true && !text.includes(`"${code}"`)
  }
  return {
    leaks: (exchange: Exchange) =>
      namesHidden(exchange) ||
      refusedWrongly(exchange) ||
      (saysMore(exchange) && !truth.reads(exchange.person, exchange.document)),
    refuses: (exchange: Exchange) =>
      exchange.call.shows === true &&
      truth.reads(exchange.person, exchange.document) &&
      !(saysMore(exchange) && exchange.status === 200),
  }
}

/** The words of documents in an answer. */
export const wordsIn = (text: string) => [...new Set(text.match(/zq[0-9a-z]+x/g))]

/** Whether an answer has the document's text or facts, rather than the word that was asked for. */
export const saysMore = ({ text, document: { word } }: Pick<Exchange, 'text' | 'document'>) =>
  new RegExp(`Report ${word}\\b|which ${word} is|"keeper": ?"${word}"`).test(text)

/** Compares everything that each person is listed, and counted, with the truth. */
export async function judgeLists(server: TestServer, { people, documents, truth }: World) {
  for (const person of people) {
    const expected = documents.filter((document) => truth.reads(person, document))
    const request = speakingFor(server, person)
    const listed = await listAll(request)
    expect({ ...listed, ids: listed.ids.toSorted(), name: person.name }).toEqual({
      ids: expected.map(({ id }) => id).toSorted(),
      total: expected.length,
      name: person.name,
    })
    expect(await countCollections(request)).toEqual(expect.objectContaining(byCollection(expected)))
    expect(await countParts(request)).toEqual(byPart(expected))
  }
}

const byCollection = (documents: readonly TrueDocument[]) =>
  countBy(documents, ({ collection = 'default' }) => collection)

/** By the field that all have, as a facet. */
const byPart = (documents: readonly WorldDocument[]) => countBy(documents, ({ part }) => part)

function countBy<Each>(documents: readonly Each[], keyOf: (document: Each) => string) {
  const groups = Map.groupBy(documents, keyOf)
  return Object.fromEntries([...groups].map(([key, own]) => [key, own.length]))
}

/** How many documents each collection is said to have, besides empty ones. */
async function countCollections(request: TestServer['request']) {
  const { collections } = CollectionList.parse(await (await request('/collections')).json())
  const filled = collections.filter(({ documents }) => documents > 0)
  return Object.fromEntries(filled.map(({ name, documents }) => [name, documents]))
}

/** How many documents a list says that there are of each part. */
async function countParts(request: TestServer['request']) {
  const count = async (part: string) => {
    const filter = encodeURIComponent(JSON.stringify({ field: 'part', eq: part }))
    const list = await request(`/documents?limit=1&total=true&filter=${filter}`)
    return [part, DocumentList.parse(await list.json()).total ?? 0] as const
  }
  const counts = await Promise.all(PARTS.map(count))
  return Object.fromEntries(counts.filter(([, total]) => total > 0))
}

/** Compares how many documents have which value, as a tool tells each person, with the truth. */
export async function judgeValues(server: TestServer, { people, documents, truth }: World) {
  for (const person of people) {
    const expected = documents.filter((document) => truth.reads(person, document))
    const values = { task: 'values', field: 'part' }
    const response = await speakingFor(server, person)('/chat', askingFor('analyse_corpus', values))
    const text = await response.text()
    const told = PARTS.flatMap((part) => {
      const [, count] = new RegExp(`${part}: (\\d+)\\b`).exec(text) ?? []
      return count === undefined ? [] : [[part, Number(count)] as const]
    })
    const [, covered, total] = /(\d+) of (\d+) documents have the field part/.exec(text) ?? []
    expect({ name: person.name, parts: Object.fromEntries(told), covered, total }).toEqual({
      name: person.name,
      parts: byPart(expected),
      covered: String(expected.length),
      total: String(expected.length),
    })
  }
}
