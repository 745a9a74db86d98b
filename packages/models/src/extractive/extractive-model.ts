import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ChatModel, ModelEvent, ModelMessage, ModelRequest } from '../chat-model.ts'
import { estimateTokens } from '../token-estimate.ts'
import { quotableUnits, type Unit } from './quotable-units.ts'
import { chooseQuotes, type IndexedUnit, indexUnit, type Question, type Quotes } from './quotes.ts'

/** Maximum number of units to choose from; about as many as a hundred chunks contain. */
const MAX_CANDIDATES = 3_000
const MAX_QUESTION_CHARACTERS = 4_000
/** A word with the space around it, or a short run of characters in scripts without spaces. */
const DELTA = /\s*\S{1,16}\s*|\s+/gu

/**
 * A model that generates nothing: it quotes the sentences of the chunks that answer the question best.
 * It needs no key and no network, never calls a tool, and its token counts are estimates.
 */
export function createExtractiveModel(): ChatModel {
  return {
    name: 'extractive',
    generates: false,
    supportsTools: false,
    supportsImages: false,
    window: undefined,
    speed: undefined,
    learnWindow: async () => undefined,
    stream: answer,
  }
}

async function* answer(
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<readonly ModelEvent[]> {
  signal.throwIfAborted()
  const question = readQuestion(request.messages)
  const answer = GREETING.test(question.text)
    ? INTRODUCTION
    : await quote(question, request, signal)

  const limit = request.sampling.maxTokens ?? Number.POSITIVE_INFINITY
  const deltas: ModelEvent[] = []
  let emitted = ''
  for (const [text] of answer.matchAll(DELTA)) {
    if (estimateTokens(emitted + text) > limit) break
    emitted += text
    deltas.push({ type: 'text-delta', text })
  }
  signal.throwIfAborted()
  yield deltas
  signal.throwIfAborted()
  const promptTokens = request.messages.reduce(
    (sum, { content }) => sum + estimateTokens(content),
    0,
  )
  const usage = { promptTokens, completionTokens: estimateTokens(emitted) }
  yield [{ type: 'finish', reason: emitted === answer ? 'stop' : 'length', usage }]
}

async function quote(
  question: Question,
  request: ModelRequest,
  signal: AbortSignal,
): Promise<string> {
  const candidates = await readUnits(request, signal)
  return writeAnswer(
    chooseQuotes(question, candidates),
    candidates.map(({ unit }) => unit),
  )
}

/** Reads one chunk per turn of the event loop, so that many long ones do not block other requests. */
async function readUnits({ chunks }: ModelRequest, signal: AbortSignal): Promise<IndexedUnit[]> {
  const candidates: IndexedUnit[] = []
  for (const [index, { title, text }] of chunks.entries()) {
    if (candidates.length >= MAX_CANDIDATES) break
    for (const unit of quotableUnits(index, text)) candidates.push(indexUnit(unit, title))
    await nextTurn()
    signal.throwIfAborted()
  }
  return candidates
}

function readQuestion(messages: readonly ModelMessage[]): Question {
  const questions = messages.filter(({ role }) => role === 'user').map(({ content }) => content)
  const [text = '', before = ''] = questions.toReversed().map(withoutChunks)
  return { text, before }
}

/** Removes the chunks, which the agent puts before the question in a block that no chunk can close. */
function withoutChunks(content: string): string {
  const end = content.startsWith('<passages>') ? content.indexOf('</passages>') : -1
  const question = end === -1 ? content : content.slice(end + '</passages>'.length)
  return question
    .trim()
    .replace(/^Question: /, '')
    .slice(0, MAX_QUESTION_CHARACTERS)
}

/** A message that only greets, or asks who answers. */
const GREETING =
  /^(?=\w.{1,60}$)(?:(?:hello|hi|hey)\b(?: there\b)?[\s,.!?]*)?(?:(?:who|what) are you|what can you do)?[\s.!?]*$/i
const INTRODUCTION =
  'Hello! I answer questions by quoting your documents, with the source of each quote. I cannot write answers of my own: no language model is configured.'

const LEAD = 'From your documents:'
const LEAD_TO_NEAREST = 'Your documents may not answer this. The nearest passages:'
const NOTHING =
  'Nothing in your documents answers this. Only quotes can be given: no language model is configured.'

const MAX_QUOTE_CHARACTERS = 400
const MAX_CODE_LINES = 20
const MAX_CODE_CHARACTERS = 1_000

/** A number such as `[1]` in a chunk would look like a citation; in links and code it stays. */
const NUMBER_IN_BRACKETS = /\[(\d+)\](?!\()/g
/** Matches sentences that refer to the one before. */
const LEANING = /^(?:it|this|that|these|those|they|he|she|however|therefore|such)\b/i

/** Writes the chosen quotes as Markdown, each with the number of its chunk, from 1. */
function writeAnswer(chosen: Quotes, units: readonly Unit[]): string {
  if (chosen.units.length === 0) return NOTHING
  const quotes = joinNeighbours(chosen.units, units).map(writeQuote)
  return `${chosen.areSure ? LEAD : LEAD_TO_NEAREST}\n\n${quotes.join('\n')}`.trimEnd()
}

/** Joins quotes that are adjacent in a chunk; the best of them determines the position. */
function joinNeighbours(quoted: readonly Unit[], units: readonly Unit[]): Unit[][] {
  const groups: Unit[][] = []
  for (const unit of quoted) {
    const near = groups.find((group) => group.some((other) => areNeighbours(unit, other)))
    if (near) near.push(unit)
    else groups.push([unit])
  }
  return groups.map((group) => withAntecedent(group.toSorted(byPosition), units))
}

function areNeighbours(one: Unit, other: Unit): boolean {
  return one.chunk === other.chunk && Math.abs(one.position - other.position) === 1
}

function byPosition(one: Unit, other: Unit): number {
  return one.position - other.position
}

function withAntecedent(group: Unit[], units: readonly Unit[]): Unit[] {
  const [first] = group
  if (first?.kind !== 'sentence' || !LEANING.test(first.text)) return group
  const before = units.find(
    (unit) =>
      areNeighbours(unit, first) && unit.position < first.position && unit.kind === 'sentence',
  )
  return before && before.context === first.context ? [before, ...group] : group
}

function writeQuote(group: readonly Unit[]): string {
  const number = (group[0]?.chunk ?? 0) + 1
  const separator = group.every(({ kind }) => kind === 'item') ? '; ' : ' '
  const text = cut(
    tidy(
      group
        .map((unit) => unit.text)
        .filter(Boolean)
        .join(separator),
    ),
  )
  const line = `- ${[text, `[${number}]`].filter(Boolean).join(' ')}`
  const code = group.flatMap((unit) => unit.code)
  return code.length === 0 ? line : `${line}\n\n${writeCode(code)}\n`
}

function writeCode(code: readonly string[]): string {
  const lines = code.slice(0, MAX_CODE_LINES).join('\n').slice(0, MAX_CODE_CHARACTERS)
  return ['```', ...lines.split('\n'), '```'].map((line) => `  ${line}`).join('\n')
}

/** Makes a piece of Markdown self-contained: removes unbalanced marks of emphasis and code. */
function tidy(text: string): string {
  let tidied = text.includes('`') ? text : text.replace(NUMBER_IN_BRACKETS, '($1)')
  for (const mark of ['**', '__', '`']) {
    const isOpen = tidied.split(mark).length % 2 === 0
    if (isOpen) tidied = tidied.replaceAll(mark, '')
  }
  return tidied.replace(/\s+/g, ' ').trim()
}

function cut(text: string): string {
  if (text.length <= MAX_QUOTE_CHARACTERS) return text
  const end = text.lastIndexOf(' ', MAX_QUOTE_CHARACTERS)
  const start = text.slice(0, end > MAX_QUOTE_CHARACTERS / 2 ? end : MAX_QUOTE_CHARACTERS)
  return `${start.toWellFormed().trimEnd()}…`
}
