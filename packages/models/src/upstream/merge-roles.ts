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
  const groups: ModelMessage[][] = []
  for (const turn of turns) {
    const group = groups.at(-1)
    if (group && belongTogether(group.at(-1), turn)) group.push(turn)
    else groups.push([turn])
  }
  return groups.flatMap(joined).flatMap((turn, at, all) =>
    // Mistral takes no user right after the result of a tool.
    turn.role === 'user' && all[at - 1]?.role === 'tool' ? [READ, turn] : turn,
  )
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

function belongTogether(one: ModelMessage | undefined, next: ModelMessage): boolean {
  if (one?.role === 'assistant') return next.role === 'assistant' && !one.toolCalls?.length
  return one?.role === 'user' && next.role === 'user'
}

/** Neighbours of one role as one message; the last of them alone may have calls. */
function joined(group: readonly ModelMessage[]): ModelMessage[] {
  const last = group.at(-1)
  if (!last || group.length === 1) return [...group]
  const content = group.flatMap((turn) => turn.content || []).join('\n\n')
  if (last.role !== 'user') return [{ ...last, content }]
  const images = group.flatMap((turn) => (turn.role === 'user' ? (turn.images ?? []) : []))
  return [{ role: 'user', content, images }]
}
