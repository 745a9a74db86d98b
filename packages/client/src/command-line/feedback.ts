import type { AgentServer, CreateFeedback, Feedback, Rating } from '../agent-server.ts'
import {
  type Command,
  type CommandContext,
  each,
  printPages,
  readAction,
  readChoice,
  readParameters,
  UsageError,
} from './command.ts'
import { shorten } from './terminal.ts'

const WIDTH = 80
const RATINGS: readonly Rating[] = ['up', 'down']

const OPTIONS = {
  rating: { type: 'string' },
  conversation: { type: 'string' },
  comment: { type: 'string' },
} as const

export const feedback: Command = {
  summary: 'List, give and remove feedback on answers',
  help: `Usage: agent-server-client feedback list [--rating RATING] [--conversation ID]
       agent-server-client feedback give <answer> --rating RATING [--conversation ID] [--comment TEXT]
       agent-server-client feedback rm <id> ...

  --rating RATING    ${RATINGS.join(' or ')}
  --conversation ID  the conversation that the answer is in
  --comment TEXT     what was good or bad
  --json             one JSON object per line

Example:
  agent-server-client feedback list --rating down`,
  words: ['list', 'give', 'rm'],
  options: OPTIONS,
  async run(context) {
    const { values, positionals } = readParameters(context, OPTIONS)
    const [action, ...ids] = positionals
    const read = readAction('feedback', action, ACTIONS)
    if (action !== 'list' && (ids.length === 0 || ids.includes(''))) {
      throw new UsageError(`feedback ${action} takes an id`)
    }
    const rating = readChoice('rating', values.rating, RATINGS)
    const { conversation: conversationId, comment } = values
    const run = read({ ids, rating, conversationId, comment })
    return run(await context.connect(values.url), context)
  },
}

interface Input {
  ids: readonly string[]
  rating: Rating | undefined
  conversationId: string | undefined
  comment: string | undefined
}

/** Reads all parameters before anything is sent. */
type Action = (input: Input) => (client: AgentServer, context: CommandContext) => Promise<number>

const list: Action =
  ({ rating, conversationId }) =>
  (client, context) => {
    const { signal } = context
    return printPages(client.feedback.list({ rating, conversationId, signal }), toRow, context)
  }

function toRow({ id, rating, question = '', comment = '' }: Feedback): string[] {
  return [id, rating.padEnd(4), shorten([question, comment].filter(Boolean).join(' – '), WIDTH)]
}

const give: Action = ({ ids, rating, conversationId, comment }) => {
  if (!rating) throw new UsageError('feedback give takes --rating')
  const rest = { ...(conversationId && { conversationId }), ...(comment && { comment }) }
  const entry = (answerId: string): CreateFeedback => ({ answerId, rating, ...rest })
  return (client, context) =>
    each(ids, `rated ${rating}`, context, (id) =>
      client.feedback.give(entry(id), { signal: context.signal }),
    )
}

const remove: Action =
  ({ ids }) =>
  (client, context) =>
    each(ids, 'removed', context, (id) => client.feedback.delete(id, { signal: context.signal }))

const ACTIONS = new Map<string, Action>([
  ['list', list],
  ['give', give],
  ['rm', remove],
])
