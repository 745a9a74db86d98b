import { DocumentList } from '@agent-server/schemas/document.ts'
import { ConversationItemList } from '../../../src/dialects/conversations/schema.ts'
import { type ContractOperation, operationsOf, readContract } from '../contract.ts'
import { speakingFor, type TestPerson } from '../people.ts'
import { createRandom, type Random } from '../random.ts'
import type { TestServer } from '../server.ts'
import {
  type ChangingDocument,
  type ChangingWorld,
  type Requests,
  readingOf,
} from './changing-world.ts'
import { nextMoment } from './history.ts'
import { ask, saysMore, wordsIn } from './matrix.ts'
import { CALLS, type RightsCall } from './operations.ts'
import { isOverloaded, untilAnswered } from './overload.ts'
import { askingFor } from './tools.ts'
import type { TrueDocument } from './truth.ts'

export interface Outcome {
  asked: number
  /** Of these, how many a busy machine could not answer in time. */
  unanswered: number
  /** How often a document was shown, and how often one was left out that its reader could not read. */
  shown: number
  leftOut: number
  leaks: string[]
  refusals: string[]
}

/** A conversation with an old answer that cites some of the documents. */
export interface OldConversation {
  id: string
  owner: TestPerson
  words: ReadonlySet<string>
}

interface Asking {
  world: ChangingWorld
  requests: Requests
  operations: readonly ContractOperation[]
  conversations: readonly OldConversation[]
  /** Calls that a chat model makes for whoever asks it to; none of a model that cannot. */
  tools: boolean
  outcome: Outcome
}

const SHOWN = 300
/** Of what is asked, the rest is in `CALLS`. */
const COUNTS = 0.08
const CONVERSATIONS = 0.12
const TOOLS = 0.25

/** The operations that read, besides administration. */
export async function readingOperations(server: TestServer): Promise<ContractOperation[]> {
  const words = { word: 'zq', id: 'zq' }
  const reads = (name = '') =>
    CALLS[name]?.(words).some((call) => !call.changes && !call.path?.includes('dryRun')) ?? false
  return operationsOf(await readContract(server)).filter(
    ({ operationId }) => operationId !== 'putDocument' && reads(operationId),
  )
}

/** Asks one thing after the other until all changes are made; which they are follows from the seed. */
export async function keepAsking(
  asking: Asking,
  seed: number,
  isOver: () => boolean,
): Promise<void> {
  const random = createRandom(seed)
  while (!isOver()) await askOnce(asking, random)
}

async function askOnce(asking: Asking, random: Random): Promise<void> {
  const { world, requests } = asking
  const server = requests(random)
  const { name = '' } = random.pick(world.people) ?? {}
  // Somebody's groups change with each request, as a program knows them.
  const person = { name, groups: world.groups.filter(() => random.next() < 0.3) }
  const kind = random.next()
  const target = random.next()
  if (kind < COUNTS) return askCounts(asking, server, person)
  if (kind < COUNTS + CONVERSATIONS) {
    const conversation = asking.conversations[Math.floor(target * asking.conversations.length)]
    return conversation && askConversation(asking, server, { person, conversation })
  }
  const document = world.documents[Math.floor(target * world.documents.length)]
  const isTool = asking.tools && kind < COUNTS + CONVERSATIONS + TOOLS
  const operation = isTool ? CHAT : random.pick(asking.operations)
  const which = random.next()
  if (!document?.id || !operation) return
  const known: TrueDocument = {
    word: document.word,
    id: document.id,
    ...collectionOf(document),
  }
  const calls = isTool
    ? toolCallsOf(document)
    : (CALLS[operation.operationId ?? '']?.(known) ?? []).filter(({ changes }) => !changes)
  const call = calls[Math.floor(which * calls.length)]
  if (!call) return
  judge(asking, {
    ...(await untilAnswered(async () => {
      const start = nextMoment()
      const exchange = await ask(server, operation, call, { person, document: known })
      return { ...exchange, span: [start, nextMoment()] as const }
    })),
    target: document,
  })
}

const collectionOf = ({ history }: ChangingDocument) => {
  const collection = history.latest()?.collection
  return collection === undefined ? {} : { collection }
}

const CHAT: ContractOperation = {
  method: 'POST',
  path: '/chat',
  isPublic: false,
  operationId: 'chat',
  tags: [],
  parameters: [],
  responses: {},
}

function toolCallsOf({ word, isTable }: ChangingDocument): RightsCall[] {
  const shows = { shows: true as const }
  return [
    { ...askingFor('find_text', { text: word }), ...shows },
    askingFor('find_text', { text: 'gannets' }),
    { ...askingFor('semantic_search', { query: word }), ...shows },
    askingFor('analyse_corpus', { task: 'values', field: 'keeper' }),
    askingFor('analyse_corpus', { task: 'list' }),
    askingFor('list_tables', {}),
    ...(isTable
      ? [{ ...askingFor('query_table', { sql: `SELECT * FROM report_${word}` }), ...shows }]
      : [{ ...askingFor('read_document', { document: word }) }]),
  ]
}

interface Judged {
  sent: string
  text: string
  status: number
  call: RightsCall
  person: TestPerson
  target: ChangingDocument
  span: readonly [number, number]
}

function judge({ world, outcome }: Asking, exchange: Judged): void {
  const { sent, text, status, call, person, target, span } = exchange
  outcome.asked++
  if (isOverloaded(exchange)) {
    outcome.unanswered++
    return
  }
  const reading = readingOf(world, person, target, span)
  const isShown = saysMore({ text, document: { word: target.word, id: '' } })
  const hidden = namedHidden(world, person, { text, sent, span })
  if (isShown && !reading.may) hidden.push(target.word)
  const what = () =>
    `${person.name} (${person.groups}) ${sent}: ${status} ${hidden} ${text.slice(0, SHOWN)}`
  if (hidden.length > 0) outcome.leaks.push(what())
  if (call.shows && reading.must && !(isShown && status === 200)) outcome.refusals.push(what())
  if (status >= 500) outcome.refusals.push(what())
  if (isShown) outcome.shown++
  else if (!reading.may) outcome.leftOut++
}

/** The words in an answer of documents that its reader could not read at any moment of it. */
function namedHidden(
  world: ChangingWorld,
  person: TestPerson,
  { text, sent, span }: Pick<Judged, 'text' | 'sent' | 'span'>,
) {
  return wordsIn(text).filter((word) => {
    const document = world.documents.find((each) => each.word === word)
    return document && !sent.includes(word) && !readingOf(world, person, document, span).may
  })
}

/** What is answered, and between which moments; undefined where a busy machine could not. */
async function askFor({ outcome }: Asking, request: TestServer['request'], path: string) {
  outcome.asked++
  const answer = await untilAnswered(async () => {
    const start = nextMoment()
    const response = await request(path)
    const text = await response.text()
    return { status: response.status, text, span: [start, nextMoment()] as const }
  })
  if (!isOverloaded(answer)) return answer
  outcome.unanswered++
  return undefined
}

/** The total must be between what somebody could read throughout, and what they could at some moment. */
async function askCounts(asking: Asking, server: TestServer, person: TestPerson): Promise<void> {
  const { world, outcome } = asking
  const answer = await askFor(asking, speakingFor(server, person), '/documents?limit=1&total=true')
  if (!answer) return
  const { total = 0 } = DocumentList.parse(JSON.parse(answer.text))
  const readings = world.documents.map((each) => readingOf(world, person, each, answer.span))
  const [least, most] = [readings.filter(({ must }) => must), readings.filter(({ may }) => may)]
  const what = `${person.name} (${person.groups}) counts ${total} of ${least.length} to ${most.length}`
  if (total > most.length) outcome.leaks.push(what)
  if (total < least.length) outcome.refusals.push(what)
}

async function askConversation(
  asking: Asking,
  server: TestServer,
  { person, conversation }: { person: TestPerson; conversation: OldConversation },
): Promise<void> {
  const { world, outcome } = asking
  const path = `/v1/conversations/${conversation.id}/items`
  const answer = await askFor(asking, speakingFor(server, person), path)
  // Whom it is shared with follows from the groups of the request.
  const isReader = person.groups?.length || person.name === conversation.owner.name
  if (!answer || (answer.status === 404 && !isReader)) return
  if (answer.status !== 200) {
    outcome.refusals.push(`${person.name} (${person.groups}) ${path}: ${answer.text}`)
    return
  }
  // The words of the answer stay; its passages and steps do not.
  const { data } = ConversationItemList.parse(JSON.parse(answer.text))
  const text = JSON.stringify(data.map(({ agent }) => agent ?? null))
  const what = `${person.name} (${person.groups}) reads ${conversation.id}: ${text.slice(0, SHOWN)}`
  for (const document of world.documents.filter(({ word }) => conversation.words.has(word))) {
    const reading = readingOf(world, person, document, answer.span)
    const isShown = text.includes(document.word)
    count(outcome, { reading, isShown, what: `${document.word}: ${what}` })
  }
}

function count(
  outcome: Outcome,
  {
    reading,
    isShown,
    what,
  }: { reading: { may: boolean; must: boolean }; isShown: boolean; what: string },
): void {
  if (isShown && !reading.may) outcome.leaks.push(what)
  if (!isShown && reading.must) outcome.refusals.push(what)
  if (isShown) outcome.shown++
  else outcome.leftOut++
}
