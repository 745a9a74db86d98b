import type { AgentServer, Document, DocumentStatus } from '../agent-server.ts'
import {
  type Command,
  type CommandContext,
  EXIT,
  readNumber,
  readParameters,
  UsageError,
} from './command.ts'
import { plain, shorten, type Terminal, table } from './terminal.ts'

const STATUSES: readonly DocumentStatus[] = ['pending', 'processing', 'ready', 'failed']
const TITLE_WIDTH = 60
/** How many rows are aligned with each other. */
const ROWS = 100

const OPTIONS = {
  status: { type: 'string' },
  limit: { type: 'string' },
  failed: { type: 'boolean' },
} as const

export const documents: Command = {
  summary: 'List, read, remove and retry documents',
  help: `Usage: agent-server-client documents list [--status STATUS] [--limit N]
       agent-server-client documents get <id>
       agent-server-client documents rm <id> ...
       agent-server-client documents retry <id> ... | --failed

  --status STATUS  ${STATUSES.join(', ')}
  --limit N        maximum number of documents; default: all
  --failed         all failed documents
  --json           one JSON object per line

Examples:
  agent-server-client documents list --status failed
  agent-server-client documents retry --failed
  agent-server-client documents list --json | jq -r .id`,
  words: ['list', 'get', 'rm', 'retry'],
  options: OPTIONS,
  async run(context) {
    const { values, positionals } = readParameters(context, OPTIONS)
    const [action, ...ids] = positionals
    const run = ACTIONS.get(action ?? '')
    if (!run) throw new UsageError(`documents takes ${[...ACTIONS.keys()].join(', ')}`)
    const status = STATUSES.find((each) => each === values.status)
    if (values.status !== undefined && !status) {
      throw new UsageError(`--status must be one of ${STATUSES.join(', ')}`)
    }
    const limit = readNumber('limit', values.limit, { min: 1, max: 1_000_000_000 })
    const everyFailed = values.failed === true
    if ((action !== 'list' && ids.length === 0 && !everyFailed) || ids.includes(''))
      throw new UsageError(`documents ${action} takes an id`)
    const client = await context.connect(values.url)
    return run({ ids, status, limit, everyFailed }, client, context)
  },
}

interface Selection {
  ids: readonly string[]
  status: DocumentStatus | undefined
  limit: number | undefined
  everyFailed: boolean
}

type Action = (
  selection: Selection,
  client: AgentServer,
  context: CommandContext,
) => Promise<number>

const list: Action = async ({ status, limit = Number.POSITIVE_INFINITY }, client, context) => {
  const { terminal, signal } = context
  let remaining = limit
  for await (const { items } of client.documents.list({ status, limit: ROWS, signal }).pages()) {
    const page = items.slice(0, remaining)
    if (terminal.json) for (const document of page) terminal.printJson(document)
    else for (const line of table(page.map(toRow))) terminal.print(line)
    remaining -= page.length
    if (remaining <= 0) break
  }
  return EXIT.done
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
  return each([...ids, ...failed], 'is tried again', context, (id) =>
    client.documents.retry(id, { signal }),
  )
}

/** Works on one id after another; failures are reported, and do not stop the rest. */
async function each(
  ids: readonly string[],
  done: string,
  { terminal, signal }: { terminal: Terminal; signal: AbortSignal },
  work: (id: string) => PromiseLike<unknown>,
): Promise<number> {
  let code: number = EXIT.done
  for (const id of ids) {
    try {
      await work(id)
      if (terminal.json) terminal.printJson({ id, ok: true })
      else terminal.print(`${id} ${done}`)
    } catch (error) {
      // An error without a code would meet the others, too.
      if (signal.aborted || !(error instanceof Error && 'code' in error && error.code)) throw error
      code = EXIT.failed
      const failure = { code: error.code, message: error.message }
      if (terminal.json) terminal.printJson({ id, ok: false, error: failure })
      else terminal.note(`${id}: ${plain(error.message)}`)
    }
  }
  return code
}

const ACTIONS = new Map<string, Action>([
  ['list', list],
  ['get', get],
  ['rm', remove],
  ['retry', retry],
])
