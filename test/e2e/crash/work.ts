import { DocumentCreated } from '@agent-server/schemas/document.ts'
import type { TestServer } from '../../support/server.ts'
import type { Entry, ExpectedDocuments } from './expected-documents.ts'
import type { SeededRandom } from './seeded-random.ts'

/** Requests under way at a time. */
const CONCURRENCY = 6
const DELETE_SHARE = 0.4
const FEW_STEPS = 20

interface Options {
  server: TestServer
  expected: ExpectedDocuments
  random: SeededRandom
  /** How many documents there are to be, about. */
  documents: number
}

/** Adds and deletes documents until the server is gone, and notes what it has acknowledged. */
export async function workUntilGone({
  server,
  expected,
  random,
  documents,
}: Options): Promise<void> {
  await concurrently(() => {
    const kept = expected.in('kept')
    const deletes = kept.length > 0 && (kept.length >= documents || random.chance(DELETE_SHARE))
    return deletes ? remove(server, random.pick(kept)) : add(server, expected)
  })
}

/** Adds and deletes some documents, one after the other. */
export async function workALittle({ server, expected, random }: Omit<Options, 'documents'>) {
  for (let step = 0; step < FEW_STEPS; step += 1) {
    if (step % 2 === 0) await add(server, expected)
    else await remove(server, random.pick(expected.in('kept')))
  }
}

/** Adds documents until there are as many as there are to be. */
export async function populate({ server, expected, documents }: Omit<Options, 'random'>) {
  await concurrently(async () => {
    const isEnough = expected.in('kept', 'adding').length >= documents
    return !isEnough && (await add(server, expected))
  })
}

async function concurrently(step: () => Promise<boolean>): Promise<void> {
  const runWorker = async () => {
    while (await step());
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, runWorker))
}

/** Answers whether the server is still there. */
async function add(server: TestServer, expected: ExpectedDocuments): Promise<boolean> {
  const entry = expected.begin()
  const body = { text: entry.text, title: entry.token }
  const response = await answerOf(() => server.request('/documents', { body }))
  if (!response) return false
  if (response.status === 202) {
    entry.id = DocumentCreated.parse(response.body).id
    entry.standing = 'kept'
    return true
  }
  expected.drop(entry)
  return isClosing(response)
}

async function remove(server: TestServer, entry: Entry): Promise<boolean> {
  entry.standing = 'deleting'
  const response = await answerOf(() =>
    server.request(`/documents/${entry.id}`, { method: 'DELETE' }),
  )
  if (!response) return false
  if (response.status === 204) {
    entry.standing = 'deleted'
    return true
  }
  entry.standing = 'kept'
  return isClosing(response)
}

interface Answer {
  status: number
  body: unknown
}

/** Nothing where the connection broke: what was asked for may have happened, or not. */
async function answerOf(ask: () => Promise<Response>): Promise<Answer | undefined> {
  try {
    const response = await ask()
    const text = await response.text()
    return { status: response.status, body: text === '' ? undefined : JSON.parse(text) }
  } catch (error) {
    if (error instanceof TypeError) return undefined
    throw error
  }
}

/** A server that closes refuses; nothing else is a reason to refuse. Answers false, as there is no more to do. */
function isClosing({ status, body }: Answer): false {
  if (status === 503 && JSON.stringify(body).includes('"shutting_down"')) return false
  throw new Error(`Refused with ${status}: ${JSON.stringify(body)}`)
}
