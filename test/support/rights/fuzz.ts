import { Conversation } from '../../../src/dialects/conversations/schema.ts'
import { readChat } from '../chat-reader.ts'
import { speakingFor } from '../people.ts'
import { createRandom } from '../random.ts'
import type { TestServer } from '../server.ts'
import { keepAsking, type OldConversation, type Outcome, readingOperations } from './asking.ts'
import {
  type ChangingWorld,
  createChangers,
  expectStatus,
  makeChangingWorld,
  type Requests,
  readingOf,
} from './changing-world.ts'
import { nextMoment } from './history.ts'

interface Fuzzing {
  seed: number
  /** Of each of those who change things: documents at the beginning, and changes. */
  documents: number
  changes: number
  /** After this, no change begins: a busy machine makes fewer. */
  milliseconds: number
  clients: number
  /** Whether the model calls tools for whoever asks it to. */
  tools: boolean
}

/** Changes rights at random while clients ask; says what was shown too much, and what was not shown. */
export async function fuzzRights(
  servers: readonly TestServer[],
  { seed, documents, changes, milliseconds, clients, tools }: Fuzzing,
): Promise<Outcome> {
  const [first] = servers
  if (!first) throw new Error('There is no server')
  const requests: Requests = ({ pick }) => pick(servers) ?? first
  const world = await makeChangingWorld(first, seed)
  const changers = createChangers(world, requests, seed)
  const repeat = async (count: number, work: () => Promise<void>) => {
    for (let i = 0; i < count; i++) await work()
  }
  await Promise.all(changers.map(({ add }) => repeat(documents, add)))
  const outcome: Outcome = {
    asked: 0,
    unanswered: 0,
    shown: 0,
    leftOut: 0,
    leaks: [],
    refusals: [],
  }
  const asking = {
    world,
    requests,
    outcome,
    tools,
    operations: await readingOperations(first),
    conversations: await askBefore(world, first, seed),
  }
  let isOver = false
  const until = performance.now() + milliseconds
  const changing = Promise.all(
    changers.map(({ step }) =>
      repeat(changes, async () => {
        if (performance.now() < until) await step()
      }),
    ),
  ).finally(() => {
    isOver = true
  })
  const askers = Array.from({ length: clients }, (_, i) =>
    keepAsking(asking, (seed + 1) * clients + i, () => isOver),
  )
  await Promise.all([changing, ...askers])
  return outcome
}

/** A conversation of each person about what they may read, shared with all groups. */
async function askBefore(
  world: ChangingWorld,
  server: TestServer,
  seed: number,
): Promise<OldConversation[]> {
  const random = createRandom(seed)
  const access = world.groups.map((group) => `group:${group}`)
  const conversations: OldConversation[] = []
  for (const owner of world.people) {
    const now = nextMoment()
    const readable = world.documents.filter((each) => readingOf(world, owner, each, [now, now]).may)
    const document = random.pick(readable)
    if (!document) continue
    const request = speakingFor(server, owner)
    const created = await expectStatus(() => request('/v1/conversations', { body: {} }), 200)
    const { id } = Conversation.parse(JSON.parse(created))
    const content = `Who is the keeper ${document.word}?`
    const body = { messages: [{ role: 'user', content }], conversation: { id } }
    const { done } = await readChat(await request('/chat', { body }))
    await expectStatus(() => request(`/v1/conversations/${id}`, { body: { access } }), 200)
    const words = world.documents.flatMap(({ word, id }) =>
      done?.hits.some(({ documentId }) => documentId === id) ? [word] : [],
    )
    conversations.push({ id, owner, words: new Set(words) })
  }
  return conversations
}
