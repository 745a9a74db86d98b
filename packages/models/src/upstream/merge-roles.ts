import type { ModelMessage } from '../chat-model.ts'
import type { Abilities } from './abilities.ts'

/**
 * The conversation for a template that knows only a user and an assistant in turn: instructions become part of the
 * message that follows, neighbours of the same role become one, and an answer before the first question is quoted.
 */
export function mergeRoles(
  messages: readonly ModelMessage[],
  { tools }: Pick<Abilities, 'tools'>,
): ModelMessage[] {
  const begin = messages.findIndex(({ role }) => role !== 'system')
  const turns = messages.map((message, at) => toTurn(message, { isFirst: at <= begin, tools }))
  const merged: ModelMessage[] = []
  for (const turn of turns) {
    const combined = joinTurns(merged.at(-1), turn)
    if (combined) merged.pop()
    // Mistral takes no user right after the result of a tool.
    if (merged.at(-1)?.role === 'tool' && turn.role === 'user') merged.push(READ)
    merged.push(combined ?? turn)
  }
  return merged
}

/** What an assistant says between the result of a tool and the next instructions. */
const READ: ModelMessage = { role: 'assistant', content: 'I have read it.' }

function toTurn(
  message: ModelMessage,
  { isFirst, tools }: { isFirst: boolean; tools: boolean },
): ModelMessage {
  const { role, content } = message
  if (role === 'system') return { role: 'user', content }
  if (role === 'tool' && !tools) return { role: 'user', content: `Result of the tool: ${content}` }
  if (role !== 'assistant') return message
  if (isFirst) return { role: 'user', content: `You said: ${content}` }
  return tools ? message : { role, content }
}

function joinTurns(one: ModelMessage | undefined, next: ModelMessage): ModelMessage | undefined {
  const content = [one?.content, next.content].filter(Boolean).join('\n\n')
  if (one?.role === 'user' && next.role === 'user') {
    return { role: 'user', content, images: [...(one.images ?? []), ...(next.images ?? [])] }
  }
  if (one?.role !== 'assistant' || next.role !== 'assistant' || one.toolCalls?.length) {
    return undefined
  }
  return { ...next, content }
}
