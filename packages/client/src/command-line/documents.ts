import type { AgentServer, Document, DocumentStatus } from '../agent-server.ts'
import {
  type Command,
  type CommandContext,
  EXIT,
  each,
  printPages,
  readAction,
  readChoice,
  readNumber,
  readParameters,
  UsageError,
} from './command.ts'
import { plain, shorten, table } from './terminal.ts'

const STATUSES: readonly DocumentStatus[] = ['pending', 'processing', 'ready', 'failed']
const TITLE_WIDTH = 60
/** How many rows are aligned with each other. */
const ROWS = 100

const OPTIONS = {
  status: { type: 'string' },
  collection: { type: 'string' },
  limit: { type: 'string' },
  failed: { type: 'boolean' },
} as const

export const documents: Command = {
  summary: 'List, read, remove and retry documents',
  help: `Usage: agent-server-client documents list [--status STATUS] [--collection NAME] [--limit N]
       agent-server-client documents get <id>
       agent-server-client documents rm <id> ...
       agent-server-client documents retry <id> ... | --failed

  --status STATUS    ${STATUSES.join(', ')}
  --collection NAME  only documents of this collection
  --limit N          maximum number of documents; default: all
  --failed           all failed documents
  --json             one JSON object per line

Examples:
  agent-server-client documents list --status failed
  agent-server-client documents retry --failed
  agent-server-client documents list --json | jq -r .id`,
  words: ['list', 'get', 'rm', 'retry'],
  options: OPTIONS,
  async run(context) {
    const { values, positionals } = readParameters(context, OPTIONS)
    const [action, ...ids] = positionals
    const run = readAction('documents', action, ACTIONS)
    const status = readChoice('status', values.status, STATUSES)
    const limit = readNumber('limit', values.limit, { min: 1, max: 1_000_000_000 })
    const everyFailed = values.failed === true
    if ((action !== 'list' && ids.length === 0 && !everyFailed) || ids.includes(''))
      throw new UsageError(`documents ${action} takes an id`)
    const client = await context.connect(values.url)
    const { collection } = values
    return run({ ids, status, collection, limit, everyFailed }, client, context)
  },
}

interface Selection {
  ids: readonly string[]
  status: DocumentStatus | undefined
  collection: string | undefined
  limit: number | undefined
  everyFailed: boolean
}

type Action = (
  selection: Selection,
  client: AgentServer,
  context: CommandContext,
) => Promise<number>

const list: Action = ({ status, collection, limit }, client, context) => {
  const { signal } = context
  const found = client.documents.list({ status, collection, limit: ROWS, signal })
  return printPages(found, toRow, context, limit)
}

function toRow({ id, status, chunks, title = '', error }: Document): string[] {
  const failure = error ? `(${error.code}) ` : ''
  return [
    id,
    status,
    `${chunks} ${chunks === 1 ? 'chunk' : 'chunks'}`,
    failure + shorten(title, TITLE_WIDTH),
  ]
}

const get: Action = async ({ ids }, client, { terminal, signal }) => {
  for (const id of ids) {
    const document = await client.documents.get(id, { signal })
    if (terminal.json) terminal.printJson(document)
    else for (const line of table(Object.entries(document).map(toFact))) terminal.print(line)
  }
  return EXIT.done
}

function toFact([name, value]: [string, unknown]): string[] {
  return [name, plain(typeof value === 'string' ? value : JSON.stringify(value))]
}

const remove: Action = ({ ids }, client, context) =>
  each(ids, 'removed', context, (id) => client.documents.delete(id, { signal: context.signal }))

const retry: Action = async ({ ids, everyFailed }, client, context) => {
  const { signal } = context
  const failed: string[] = []
  const documents = everyFailed ? client.documents.list({ status: 'failed', signal }) : []
  for await (const { id } of documents) failed.push(id)
  return each([...ids, ...failed], 'is retried', context, (id) =>
    client.documents.retry(id, { signal }),
  )
}

const ACTIONS = new Map<string, Action>([
  ['list', list],
  ['get', get],
  ['rm', remove],
  ['retry', retry],
])
