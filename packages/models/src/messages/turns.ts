import { objectOf, parseJson } from '@agent-server/lib/text/json.ts'
import type { ContentBlockParam, ImageBlockParam } from '@anthropic-ai/sdk/resources/messages'
import type { ModelMessage, ReasoningPart } from '../chat-model.ts'
import type { Abilities } from '../upstream/abilities.ts'
import { toToolName, withoutImages } from '../upstream/request-parts.ts'
import { wholeTurns } from '../upstream/whole-turns.ts'

export interface Turn {
  role: 'user' | 'assistant'
  content: ContentBlockParam[]
}

type AssistantMessage = Extract<ModelMessage, { role: 'assistant' }>
type UserMessage = Extract<ModelMessage, { role: 'user' }>

/** Newer models continue no answer, and none takes calls where no tools are offered. */
const SUPPORTED = { continues: false, bareCalls: false }

/**
 * The conversation as users and assistants in turn, beginning and ending with a user. Results of tools come first in
 * their turn; instructions within the conversation stay in their place, as part of the user's turn.
 */
export function toTurns(
  messages: readonly ModelMessage[],
  offersTools: boolean,
  abilities: Abilities,
): Turn[] {
  const turns: Turn[] = []
  const add = (role: Turn['role'], content: readonly ContentBlockParam[]): void => {
    if (content.length === 0) return
    const last = turns.at(-1)
    if (last?.role === role) last.content.push(...content)
    else turns.push({ role, content: [...content] })
  }
  for (const message of wholeTurns(messages, offersTools, SUPPORTED)) {
    const isAnswer = message.role === 'assistant' && turns.length > 0
    add(
      isAnswer ? 'assistant' : 'user',
      isAnswer ? toAnswer(message, abilities) : toUserBlocks(message, abilities),
    )
  }
  return turns.map(({ role, content }) => ({ role, content: content.toSorted(byPlace) }))
}

/** What the user's turn has of a message. */
function toUserBlocks(message: ModelMessage, abilities: Abilities): ContentBlockParam[] {
  switch (message.role) {
    case 'user':
      return toQuestion(message, abilities)
    case 'tool':
      return [{ type: 'tool_result', tool_use_id: toId(message.callId), content: message.content }]
    case 'assistant':
      return toText(`You said: ${message.content}`)
    case 'system':
      return toText(message.content)
  }
}

const byPlace = (one: ContentBlockParam, other: ContentBlockParam): number =>
  Number(other.type === 'tool_result') - Number(one.type === 'tool_result')

/** A text as a block; none for a blank one, which is refused. */
const toText = (text: string): ContentBlockParam[] =>
  text.trim() === '' ? [] : [{ type: 'text', text }]

function toAnswer(
  { content, toolCalls = [], reasoning = [] }: AssistantMessage,
  { reasoning: takesReasoning }: Abilities,
): ContentBlockParam[] {
  const thinking = takesReasoning && toolCalls.length > 0 ? reasoning.flatMap(toThinking) : []
  // White space at the end is refused where the last message is an answer.
  const text = toText(content.trimEnd())
  const uses = toolCalls.map(({ callId, name, arguments: written }): ContentBlockParam => {
    // The tool's result says what was wrong with arguments that are no JSON.
    return {
      type: 'tool_use',
      id: toId(callId),
      name: toToolName(name),
      input: objectOf(parseJson(written)),
    }
  })
  return [...thinking, ...text, ...uses]
}

/** The form of this protocol; others' reasoning is left out. */
function toThinking(part: ReasoningPart): ContentBlockParam[] {
  if (part.form !== 'block') return []
  const { text, signature } = part
  return text === undefined
    ? [{ type: 'redacted_thinking', data: signature }]
    : [{ type: 'thinking', thinking: text, signature }]
}

/** Images stand before the text: models read them better there. */
function toQuestion(
  { content, images = [] }: UserMessage,
  abilities: Abilities,
): ContentBlockParam[] {
  if (images.length === 0) return toText(content)
  if (!abilities.images) return toText(withoutImages(content))
  return [...images.flatMap(({ url }) => toImage(url)), ...toText(content)]
}

const MEDIA_TYPES = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'] as const
const DATA_URL = /^data:([\w/+.-]+)(?:;[^,;]*)*;base64,/i

function toImage(url: string): ContentBlockParam[] {
  const [start, type = ''] = DATA_URL.exec(url) ?? []
  if (start === undefined) return [{ type: 'image', source: { type: 'url', url } }]
  const named = type.toLowerCase().replace('image/jpg', 'image/jpeg')
  const known = MEDIA_TYPES.find((each) => each === named)
  if (!known) return toText(`[An image that this model cannot read: ${named}]`)
  const source: ImageBlockParam['source'] = {
    type: 'base64',
    media_type: known,
    data: url.slice(start.length),
  }
  return [{ type: 'image', source }]
}

/** Ids with other characters, which other models give, are refused. */
const toId = (id: string): string => id.replaceAll(/[^A-Za-z0-9_-]/g, '_') || 'unnamed'
