import type { AgentServer, Conversation, ConversationItem } from '../agent-server.ts'
import {
  type Command,
  type CommandContext,
  EXIT,
  each,
  printPages,
  readAction,
  readNumber,
  readParameters,
  UsageError,
} from './command.ts'
import { plain, shorten } from './terminal.ts'

const TITLE_WIDTH = 80
/** How many rows are aligned with each other. */
const ROWS = 100

const OPTIONS = { search: { type: 'string' }, limit: { type: 'string' } } as const

export const conversations: Command = {
  summary: 'List, read and remove stored conversations',
  help: `Usage: agent-server-client conversations list [--search TEXT] [--limit N]
       agent-server-client conversations get <id>
       agent-server-client conversations rm <id> ...

  --search TEXT  only those with this text in the title or in a question
  --limit N      maximum number of conversations; default: all
  --json         one JSON object per line

Examples:
  agent-server-client conversations list --search library
  agent-server-client conversations get conv_1 --json`,
  words: ['list', 'get', 'rm'],
  options: OPTIONS,
  async run(context) {
    const { values, positionals } = readParameters(context, OPTIONS)
    const [action, ...ids] = positionals
    const run = readAction('conversations', action, ACTIONS)
    if (action !== 'list' && (ids.length === 0 || ids.includes(''))) {
      throw new UsageError(`conversations ${action} takes an id`)
    }
    const limit = readNumber('limit', values.limit, { min: 1, max: 1_000_000_000 })
    return run({ ids, search: values.search, limit }, await context.connect(values.url), context)
  },
}

interface Input {
  ids: readonly string[]
  search: string | undefined
  limit: number | undefined
}

type Action = (input: Input, client: AgentServer, context: CommandContext) => Promise<number>

const list: Action = ({ search, limit }, client, context) => {
  const { signal } = context
  const found = client.conversations.list({ search, limit: ROWS, signal })
  return printPages(found, toRow, context, limit)
}

function toRow({ id, title, updated_at }: Conversation): string[] {
  return [id, new Date(updated_at * 1_000).toISOString(), shorten(title ?? '', TITLE_WIDTH)]
}

const get: Action = async ({ ids }, client, { terminal, signal }) => {
  for (const id of ids) {
    for await (const item of client.conversations.items(id, { signal })) {
      if (terminal.json) terminal.printJson(item)
      else if (item.type === 'message') {
        terminal.print(`${terminal.style('bold', plain(`${item.role}:`))} ${plain(textOf(item))}\n`)
      }
    }
  }
  return EXIT.done
}

function textOf({ content }: ConversationItem): string {
  const parts: { text?: unknown }[] = Array.isArray(content) ? content : []
  return parts.map(({ text }) => (typeof text === 'string' ? text : '')).join('')
}

const remove: Action = ({ ids }, client, context) =>
  each(ids, 'removed', context, (id) => client.conversations.delete(id, { signal: context.signal }))

const ACTIONS = new Map<string, Action>([
  ['list', list],
  ['get', get],
  ['rm', remove],
])
