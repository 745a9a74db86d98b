import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ChatModel, ModelEvent, ModelMessage, ModelRequest } from '../chat-model.ts'
import { estimateTokens } from '../token-estimate.ts'
import { type Candidate, chooseQuotes, type Question, toCandidate } from './choose-quotes.ts'
import { quotableUnits } from './quotable-units.ts'
import { writeAnswer } from './write-answer.ts'

/** Sentences that are weighed against each other; a hundred chunks hold about as many. */
const MAXIMUM_CANDIDATES = 3_000
const MAXIMUM_QUESTION_CHARACTERS = 4_000
/** A word with the space around it; scripts without spaces are cut into short runs. */
const DELTA = /\s*\S{1,16}\s*/gu

/**
 * A model that generates nothing: it quotes the sentences of the passages that answer the question best.
 * It needs no key and no network, never calls a tool, and its token counts are estimates.
 */
export function createExtractiveModel(): ChatModel {
  return { name: 'extractive', supportsTools: false, stream: answer }
}

async function* answer(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  signal.throwIfAborted()
  const candidates = await readPassages(request, signal)
  const chosen = chooseQuotes(readQuestion(request.messages), candidates)
  const written = writeAnswer(
    chosen,
    candidates.map(({ unit }) => unit),
  )

  const limit = request.sampling.maxTokens ?? Number.POSITIVE_INFINITY
  let said = ''
  for (const [delta] of written.matchAll(DELTA)) {
    signal.throwIfAborted()
    if (estimateTokens(said + delta) > limit) break
    said += delta
    yield { type: 'text-delta', text: delta }
  }
  signal.throwIfAborted()
  const promptTokens = request.messages.reduce(
    (sum, { content }) => sum + estimateTokens(content),
    0,
  )
  yield {
    type: 'finish',
    reason: said === written ? 'stop' : 'length',
    usage: { promptTokens, completionTokens: estimateTokens(said) },
  }
}

/** One passage per turn of the event loop, so that many long ones do not hold up other requests. */
async function readPassages({ passages }: ModelRequest, signal: AbortSignal): Promise<Candidate[]> {
  const candidates: Candidate[] = []
  for (const [index, { title, text }] of passages.entries()) {
    if (candidates.length >= MAXIMUM_CANDIDATES) break
    for (const unit of quotableUnits(index, text)) candidates.push(toCandidate(unit, title))
    await nextTurn()
    signal.throwIfAborted()
  }
  return candidates
}

function readQuestion(messages: readonly ModelMessage[]): Question {
  const asked = messages.filter(({ role }) => role === 'user').map(({ content }) => content)
  const [text = '', before = ''] = asked.toReversed().map(withoutPassages)
  return { text, before }
}

/** The agent puts the passages before the question, in a block that no passage can close. */
function withoutPassages(content: string): string {
  const end = content.startsWith('<passages>') ? content.indexOf('</passages>') : -1
  const question = end === -1 ? content : content.slice(end + '</passages>'.length)
  return question.trim().slice(0, MAXIMUM_QUESTION_CHARACTERS)
}
