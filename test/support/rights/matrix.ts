import { expect } from 'vitest'
import { type ContractOperation, operationsOf, readContract } from '../contract.ts'
import { speakingFor, type TestPerson } from '../people.ts'
import { createRandom, type Random } from '../random.ts'
import type { TestServer } from '../server.ts'
import { listAll } from './lists.ts'
import { CALLS, type RightsCall } from './operations.ts'
import type { TrueDocument, Truth } from './truth.ts'
import type { World } from './world.ts'

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

/** Asks every operation about documents, each as a person who may read it and as one who may not. */
export async function askOperations(
  server: TestServer,
  world: World,
  sample: { rounds: number; slowEvery: number },
) {
  const random = createRandom(11)
  const judge = createJudge(world)
  const outcome = { asked: 0, leaks: [] as string[], refusals: [] as string[] }
  for (const operation of await personalOperations(server)) {
    for (const { call, ...pair } of callsOf(operation, world, random, sample)) {
      const exchange = await ask(server, operation, call, pair)
      const { sent, status, text } = exchange
      const what = `${pair.person.name} ${operation.operationId} ${sent}: ${status} ${text.slice(0, 300)}`
      outcome.asked++
      if (judge.leaks(exchange)) outcome.leaks.push(what)
      if (judge.refuses(exchange)) outcome.refusals.push(what)
    }
  }
  return outcome
}

/** In turn for a document that somebody may read, and one that somebody may not. */
function* callsOf(
  { operationId = '' }: ContractOperation,
  world: World,
  random: Random,
  { rounds, slowEvery }: { rounds: number; slowEvery: number },
) {
  for (let round = 0; round < rounds * 2; round++) {
    const pair = pairFor(random, world, round % 2 === 0)
    // What would take effect is left out: the truth stays as it is.
    const mayChange = world.truth.changes(pair.person, pair.document)
    const isSlowTurn = round % (slowEvery * 2) < 2
    for (const call of CALLS[operationId]?.(pair.document) ?? [{}]) {
      if ((!call.isSlow || isSlowTurn) && !(call.changes && mayChange)) yield { call, ...pair }
    }
  }
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
  new RegExp(`Report ${word}|which ${word} is|"keeper": ?"${word}"`).test(text)

interface Pairs {
  people: readonly TestPerson[]
  documents: readonly TrueDocument[]
  truth: Truth
}

const MAX_ATTEMPTS = 100_000

function pairFor(random: Random, { people, documents, truth }: Pairs, isSeen: boolean) {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const [person, document] = [random.pick(people), random.pick(documents)]
    if (person && document && truth.reads(person, document) === isSeen) return { person, document }
  }
  throw new Error('There is no such person and document')
}

/** Compares everything that each person is listed, and counted, with the truth. */
export async function judgeLists(server: TestServer, { people, documents, truth }: Pairs) {
  for (const person of people) {
    const expected = documents.filter((document) => truth.reads(person, document))
    const listed = await listAll(speakingFor(server, person))
    expect({ ...listed, ids: listed.ids.toSorted(), name: person.name }).toEqual({
      ids: expected.map(({ id }) => id).toSorted(),
      total: expected.length,
      name: person.name,
    })
  }
}
