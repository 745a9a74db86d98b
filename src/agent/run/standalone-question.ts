import { startDeadline } from '@agent-server/lib/abort.ts'
import { GO_ON } from '@agent-server/lib/text/go-on.ts'
import { tokenise } from '@agent-server/lib/text/tokenise.ts'
import {
  type ChatModel,
  type EndCall,
  type Meter,
  type ModelRequest,
  type ModelUsage,
  sizeOfMessages,
} from '@agent-server/models'
import type { AgentRequest } from '@agent-server/wire'
import { cacheKeyOf } from './cache-key.ts'

/** Maximum earlier questions that are used as context. */
const MAX_EARLIER = 2
/** Maximum UTF-16 code units of a message that are examined. */
const MAX_READ_CHARACTERS = 1_500
/** Maximum UTF-16 code units and tokens of the question that the model writes. */
const MAX_QUESTION = 300
const MAX_TOKENS = 60
/**
 * The model is called only if it writes at least this many tokens per second: a question then takes less than its time
 * limit.
 */
const MIN_SPEED = 30
/** How long the answer may be delayed. */
const REWRITE_MS = 1_000

/** With fewer content words than this, a message depends on earlier ones. */
const FEW_WORDS = 3
/** With more content words than this, a message can stand alone even if it refers to something. */
const MANY_WORDS = 8

/** Words that refer to something said before, for languages in which they have few other uses. */
const REFERRING = new Set(
  `it its they them their theirs he him his she her hers this that these those one ones there such same both
  er sie es ihm ihn ihr ihre ihrem ihren ihrer sein seine seinem seinen seiner dies diese diesem diesen dieser
  dieses dafür dagegen daran darin darüber davon dazu dort
  il elle ils elles leur leurs celui celle ceux celles cela ceci ça
  él ella ellos ellas su sus esto eso este esta ese esa estos estas esos esas
  它 他 她 这 那 這`.split(/\s+/),
)

interface SearchQuery {
  query: string
  /** Earlier questions, the latest first; only if the query cannot stand alone. */
  context?: readonly string[]
  /** Whether the model wrote the query, other than by repeating the message. */
  isRewritten?: boolean
}

interface Dependencies {
  model: Pick<ChatModel, 'name' | 'stream' | 'generates' | 'speed'>
  isStopWord: (word: string) => boolean
  /** What a chat would send, with this in place of passages and question, so that the model's cache serves the rest. */
  promptFor: (message: string) => Pick<ModelRequest, 'messages' | 'tools'>
  meter: Meter
}

/**
 * Decides what to search for: the last user message if it can stand alone, else a question that the model writes from
 * the conversation, if it is quick and what it writes is usable, else the message with earlier questions as context.
 * Throws the abort reason of `signal`.
 */
export async function toQuery(
  asking: AgentRequest,
  { isStopWord, ...means }: Dependencies,
  signal: AbortSignal,
): Promise<SearchQuery> {
  const { messages, topK, rewrite } = asking
  const { first, text: query } = lastQuestion(messages)
  const before = messages
    .slice(0, first)
    .filter(({ role, content }) => (role === 'user' || role === 'assistant') && content.trim())
  if (topK === 0 || !rewrite || before.length === 0) return { query }
  const words = wordsOf(query, isStopWord)
  if (words.content.size > (words.hasReferences ? MANY_WORDS : FEW_WORDS - 1)) return { query }
  // The same words again, as “Go on”, say nothing of what is asked for.
  const earlier = before
    .filter(({ role, content }) => role === 'user' && content !== query)
    .map(({ content }) => content)
  const context = earlier.toReversed().slice(0, MAX_EARLIER)
  const question = await write(query, { ...means, cacheKey: cacheKeyOf(asking) }, signal)
  const priorText = [query, ...before.map(({ content }) => content)]
  if (question === undefined || !isUsable(question, priorText, isStopWord))
    return { query, context }
  return { query: question, isRewritten: question !== query }
}

/**
 * The user's last messages, which belong together: some programs send the question, then how to answer it. What only
 * asks for the rest of an answer is no question.
 */
function lastQuestion(messages: AgentRequest['messages']): { first: number; text: string } {
  const last = messages.findLastIndex(({ role, content }) => role === 'user' && content !== GO_ON)
  const first = messages.findLastIndex(({ role }, at) => at < last && role !== 'user') + 1
  const texts = messages.slice(first, last + 1).map(({ content }) => content)
  return { first, text: texts.filter((text) => text.trim() !== '').join('\n') }
}

/** Asks the model for a standalone question; undefined if it is slow, late or fails. */
async function write(
  query: string,
  { model, promptFor, meter, cacheKey }: Omit<Dependencies, 'isStopWord'> & { cacheKey: string },
  signal: AbortSignal,
): Promise<string | undefined> {
  if (!model.generates || (model.speed ?? 0) < MIN_SPEED) return undefined
  using deadline = startDeadline(REWRITE_MS, signal)
  const { messages, tools } = promptFor(`${TASK}\n\nThe message: ${query}`)
  const request: ModelRequest = {
    messages,
    tools,
    ...(tools.length > 0 && { toolChoice: 'none' }),
    sampling: { maxTokens: MAX_TOKENS },
    chunks: [],
    cacheKey,
  }
  const sentBytes = sizeOfMessages(messages)
  const answer: ReadAnswer = { text: '', usage: undefined }
  let end: EndCall | undefined
  try {
    end = await meter.begin({ model: model.name, sentBytes, maxTokens: MAX_TOKENS })
    await read(model.stream(request, deadline.signal), answer)
    return answer.text.length > MAX_QUESTION ? undefined : answer.text.trim()
  } catch {
    // Not reported: if the model is down, the request for the answer fails next and says so.
    signal.throwIfAborted()
    return undefined
  } finally {
    const { text, usage } = answer
    const call = { usage, sentBytes, receivedBytes: Buffer.byteLength(text) }
    // The server may have read the prompt of an abandoned call.
    await end?.(usage || text !== '' || deadline.signal.aborted ? call : undefined)
  }
}

interface ReadAnswer {
  text: string
  usage: ModelUsage | undefined
}

/** Reads an answer until it is too long. */
async function read(stream: ReturnType<ChatModel['stream']>, answer: ReadAnswer): Promise<void> {
  for await (const batch of stream) {
    for (const event of batch) {
      if (event.type === 'text-delta') answer.text += event.text
      if (event.type === 'finish') answer.usage = event.usage
    }
    if (answer.text.length > MAX_QUESTION) return
  }
}

const TASK =
  'Do not answer the following message. Write it as one question that can be understood without the conversation, in the language of the message, and nothing else.'

const MARKUP = /[<>{}[\]|`*#\n]/
/** A question with fewer words of content finds anything. */
const MIN_WORDS = 2

/** Whether a text can be searched for: one line without markup that shares words with the conversation. */
function isUsable(
  text: string,
  priorText: readonly string[],
  isStopWord: (word: string) => boolean,
): boolean {
  if (MARKUP.test(text)) return false
  const { content } = wordsOf(text, isStopWord)
  const earlierWords = priorText.map((each) => wordsOf(each, isStopWord).content)
  return (
    content.size >= MIN_WORDS &&
    [...content].some((word) => earlierWords.some((words) => words.has(word)))
  )
}

/** The words of a text that carry content, and whether it has words that refer to something said before. */
export function wordsOf(message: string, isStopWord: (word: string) => boolean) {
  const content = new Set<string>()
  let hasReferences = false
  tokenise(
    message.slice(0, MAX_READ_CHARACTERS),
    (text) => text.toLowerCase(),
    (lower, start, end, also) => {
      const word = lower.slice(start, end)
      if (REFERRING.has(word.replace(/['’].*/, ''))) hasReferences = true
      else if (!also && !isStopWord(word)) content.add(word)
    },
  )
  return { content, hasReferences }
}
