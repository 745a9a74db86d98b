import { DocumentCreated } from '@agent-server/schemas/document.ts'
import { speakingFor, type TestPerson } from '../people.ts'
import { createRandom, type Random } from '../random.ts'
import type { TestServer } from '../server.ts'
import { createHistory, type History } from './history.ts'
import { untilAnswered } from './overload.ts'
import { createTruth, type TrueCollection, type TrueDocument } from './truth.ts'

/** A document, from before it is added until after it is deleted. */
export interface ChangingDocument {
  word: string
  isTable: boolean
  id: string | undefined
  /** Undefined while there is none. */
  history: History<TrueDocument | undefined>
}

export interface ChangingWorld {
  people: readonly TestPerson[]
  groups: readonly string[]
  documents: ChangingDocument[]
  collections: ReadonlyMap<string, History<TrueCollection>>
}

/** A server for each request, as a balancer chooses one. */
export type Requests = (random: Random) => TestServer

const PEOPLE = 10
const GROUPS = 6
/** Who changes things at the same time: each what nobody else changes. */
const CHANGERS = 4
const COLLECTIONS = CHANGERS * 2
const WAIT = 'wait=50&for=embeddings'

const textOf = ({ word, isTable }: Pick<ChangingDocument, 'word' | 'isTable'>, edition: number) =>
  isTable
    ? `keeper,note,edition\n${word},Report ${word} of gannets,${edition}\n`
    : `A report about gannets, of which ${word} is the keeper. ${word} counts them ${edition} times.`

/** People, and collections that they share, without documents. */
export async function makeChangingWorld(server: TestServer, seed: number): Promise<ChangingWorld> {
  const random = createRandom(seed)
  const groups = Array.from({ length: GROUPS }, (_, i) => `g${i}`)
  const people = Array.from(
    { length: PEOPLE },
    (_, i): TestPerson => ({ name: `p${i}`, groups: someOf(random, groups) }),
  )
  const world = { people, groups, documents: [] }
  const collections = new Map<string, History<TrueCollection>>()
  for (let i = 0; i < COLLECTIONS; i++) {
    const name = `c${i}`
    const [access, contributors, owners] = [
      entries(random, world),
      entries(random, world),
      entries(random, world),
    ]
    const body = { name, access, contributors, owners }
    await expectStatus(() => server.request('/collections', { body }), 201)
    collections.set(name, createHistory(body))
  }
  return { ...world, collections }
}

const someOf = ({ next }: Random, names: readonly string[]) => names.filter(() => next() < 0.3)

/** A list of whom to include: of groups, people or everybody. */
function entries(random: Random, { people, groups }: Pick<ChangingWorld, 'people' | 'groups'>) {
  const { next, pick } = random
  return [
    ...new Set([
      ...(next() < 0.6 ? [`group:${pick(groups)}`] : []),
      ...(next() < 0.4 ? [`group:${pick(groups)}`] : []),
      ...(next() < 0.5 ? [`user:${pick(people)?.name}`] : []),
      ...(next() < 0.06 ? ['public'] : []),
    ]),
  ].sort()
}

/** It may have been done before the server stopped answering. */
const DONE_BEFORE = [403, 404]

/** Sends a change until the server has an answer: a busy machine may keep a database from giving one. */
export async function expectStatus(
  send: () => Promise<Response>,
  expected: number,
): Promise<string> {
  const { status, text, attempt } = await untilAnswered(async (attempt) => {
    const response = await send()
    return { status: response.status, text: await response.text(), attempt }
  })
  const isDone = attempt > 1 && DONE_BEFORE.includes(status)
  if (status !== expected && !isDone) throw new Error(`${status} ${text}`)
  return text
}

/** A document that somebody changes. */
interface Changing {
  document: ChangingDocument
  latest: TrueDocument
  /** Absent for a program. */
  person: TestPerson | undefined
  request: TestServer['request']
  patch: (body: object) => Promise<void>
}

/**
 * Those who change the world, at the same time. What each does follows from the seed alone, as they share no document and
 * no collection. `requests` speaks with every right; what people may do themselves, they do now and then.
 */
export const createChangers = (world: ChangingWorld, requests: Requests, seed: number) =>
  Array.from({ length: CHANGERS }, (_, place) => createChanger(world, requests, { seed, place }))

function createChanger(
  world: ChangingWorld,
  requests: Requests,
  { seed, place }: { seed: number; place: number },
) {
  const random = createRandom(seed * CHANGERS + place + 1)
  const { next, below, pick } = random
  const names = [...world.collections.keys()].filter((_, i) => i % CHANGERS === place)
  const own: ChangingDocument[] = []
  const truth = () =>
    createTruth(names.flatMap((name) => world.collections.get(name)?.latest() ?? []))
  let added = 0

  /** Somebody who may change it, or, more often, a program. */
  const actorFor = (document: TrueDocument) => {
    const able = world.people.filter((person) => truth().changes(person, document))
    const person = next() < 0.4 ? pick(able) : undefined
    const server = requests(random)
    return { person, request: person ? speakingFor(server, person) : server.request }
  }
  /** Where somebody may add documents; undefined is the default collection. */
  const placeFor = (person: TestPerson | undefined) => {
    const open = names.filter(
      (name) => !person || mayAdd(person, world.collections.get(name)?.latest()),
    )
    return pick([undefined, ...open, ...open])
  }

  const add = async () => {
    const person = next() < 0.6 ? pick(world.people) : undefined
    const server = requests(random)
    const isTable = next() < 0.3
    const document: ChangingDocument = {
      word: `zq${place}n${added++}x`,
      isTable,
      id: undefined,
      history: createHistory<TrueDocument | undefined>(undefined),
    }
    const { word, history } = document
    const collection = placeFor(person)
    const rights = {
      ...(collection !== undefined && { collection }),
      ...(next() < 0.5 && { access: entries(random, world) }),
    }
    const request = person ? speakingFor(server, person) : server.request
    const state = { word, id: '', ...rights, ...(person && { creator: person.name }) }
    own.push(document)
    world.documents.push(document)
    await history.change(state, async () => {
      const body = { text: textOf(document, 0), ...facts(document), ...rights }
      const headers = { 'idempotency-key': `${seed}-${word}` }
      const made = await expectStatus(() => request(`/documents?${WAIT}`, { body, headers }), 200)
      document.id = DocumentCreated.parse(JSON.parse(made)).id
    })
  }
  const share = async ({ document, latest, patch }: Changing) => {
    const access = next() < 0.75 ? entries(random, world) : undefined
    const { access: _, ...open } = latest
    const state = access ? { ...open, access } : open
    await document.history.change(state, () => patch({ access: access ?? null }))
  }
  const move = async ({ document, latest, person, patch }: Changing) => {
    const collection = placeFor(person)
    const { collection: before, creator, ...others } = latest
    const isTakenOut = collection === undefined && before !== undefined
    const owner = isTakenOut ? person?.name : creator
    const state = {
      ...others,
      ...(owner !== undefined && { creator: owner }),
      ...(collection !== undefined && { collection }),
    }
    await document.history.change(state, () =>
      patch({ metadata: { collection: collection ?? null } }),
    )
  }
  /** Until the new text is served, nobody reads the old one but by an entry of both lists. */
  const replace = async ({ document, latest }: Changing) => {
    const access = entries(random, world)
    const { collection } = latest
    const there = collection !== undefined && { collection }
    const body = { text: textOf(document, below(99)), ...facts(document), ...there, access }
    const path = `/documents/${document.id}?${WAIT}`
    const { request } = requests(random)
    const meanwhile = access.filter((entry) => latest.access?.includes(entry))
    await document.history.change(
      { ...latest, access },
      async () => void (await expectStatus(() => request(path, { method: 'PUT', body }), 200)),
      [{ ...latest, access: meanwhile }],
    )
  }
  const remove = ({ document, request }: Changing) =>
    document.history.change(undefined, async () => {
      await expectStatus(() => request(`/documents/${document.id}`, { method: 'DELETE' }), 204)
    })
  const change = (document: ChangingDocument, latest: TrueDocument) => {
    const { person, request } = actorFor(latest)
    const patch = async (body: object) => {
      await expectStatus(() => request(`/documents/${document.id}`, { method: 'PATCH', body }), 200)
    }
    // Most of what is chosen changes who may read it.
    const kind = pick([share, share, share, share, move, move, move, replace, replace, remove])
    return kind?.({ document, latest, person, request, patch })
  }
  const changeRoles = async () => {
    const name = pick(names) ?? ''
    const history = world.collections.get(name)
    if (!history) return
    const role = pick(['access', 'contributors', 'owners'] as const) ?? 'access'
    const body = { [role]: entries(random, world) }
    const { request } = requests(random)
    await history.change({ ...history.latest(), ...body }, async () => {
      await expectStatus(() => request(`/collections/${name}`, { method: 'PATCH', body }), 200)
    })
  }

  return {
    add,
    /** One change: of a document, of whom a collection is shared with, or a document more. */
    async step(): Promise<void> {
      const kind = next()
      const document = pick(own.filter(({ history }) => history.latest() !== undefined))
      const latest = document?.history.latest()
      if (kind < 0.25) return changeRoles()
      if (kind < 0.35 || !document || !latest) return add()
      return change(document, latest)
    },
  }
}

const facts = ({ word, isTable }: ChangingDocument) => ({
  title: `Report ${word}${isTable ? '.csv' : ''}`,
  metadata: { keeper: word },
})

/** Whether somebody may add documents to a collection. */
function mayAdd({ name, groups = [] }: TestPerson, place: TrueCollection | undefined): boolean {
  const own = ['public', `user:${name}`, ...groups.map((group) => `group:${group}`)]
  return own.some((entry) => place?.contributors.includes(entry) || place?.owners.includes(entry))
}

/** What somebody may read of a document between two moments: at some of them, and at each. */
export function readingOf(
  { collections }: Pick<ChangingWorld, 'collections'>,
  person: TestPerson,
  { history }: Pick<ChangingDocument, 'history'>,
  [start, end]: readonly [number, number],
): { may: boolean; must: boolean } {
  const states = history.between(start, end)
  const verdicts = states.flatMap((document) => {
    if (!document) return [false]
    const places = collections.get(document.collection ?? '')?.between(start, end)
    if (!places) return [createTruth([]).reads(person, document)]
    return places.map((place) => createTruth([place]).reads(person, document))
  })
  // Whoever asks for it in its collection does not see it in another.
  const isMoved = new Set(states.map((document) => document?.collection)).size > 1
  return { may: verdicts.includes(true), must: !isMoved && !verdicts.includes(false) }
}
