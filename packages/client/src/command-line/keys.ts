import type { AgentServer, ApiKey, CreateApiKey } from '../agent-server.ts'
import {
  type Command,
  type CommandContext,
  EXIT,
  each,
  printItems,
  readAction,
  readNumber,
  readParameters,
  UsageError,
} from './command.ts'
import { shorten } from './terminal.ts'

const NAME_WIDTH = 40
const SCOPES: readonly CreateApiKey['scopes'][number][] = [
  'query',
  'chat',
  'ingest',
  'admin',
  'act-as',
]

const OPTIONS = {
  scope: { type: 'string', multiple: true },
  collection: { type: 'string', multiple: true },
  expires: { type: 'string' },
  'tokens-per-day': { type: 'string' },
} as const

export const keys: Command = {
  summary: 'List, create and revoke keys',
  help: `Usage: agent-server-client keys list
       agent-server-client keys create <name> --scope SCOPE [options]
       agent-server-client keys revoke <id> ...

  --scope SCOPE        ${SCOPES.join(', ')}; repeatable
  --collection NAME    only documents of this collection; repeatable
  --expires TIME       such as 2027-01-31
  --tokens-per-day N   limit on model tokens
  --json               print the server's response

Prints the secret of a new key, which is shown only this once.

Examples:
  agent-server-client keys create website --scope query --scope chat
  agent-server-client keys list`,
  words: ['list', 'create', 'revoke'],
  options: OPTIONS,
  async run(context) {
    const { values, positionals } = readParameters(context, OPTIONS)
    const [action, ...words] = positionals
    const run = readAction('keys', action, ACTIONS)(words, values)
    return run(await context.connect(values.url), context)
  },
}

interface KeyValues {
  scope?: string[]
  collection?: string[]
  expires?: string
  'tokens-per-day'?: string
}

function readKey(name: string, { scope = [], collection, ...values }: KeyValues): CreateApiKey {
  if (name === '') throw new UsageError('keys create takes a name')
  const scopes = SCOPES.filter((each) => scope.includes(each))
  if (scopes.length === 0 || scopes.length < new Set(scope).size) {
    throw new UsageError(`--scope must be one of ${SCOPES.join(', ')}`)
  }
  const bounds = { min: 1, max: Number.MAX_SAFE_INTEGER }
  const tokensPerDay = readNumber('tokens-per-day', values['tokens-per-day'], bounds)
  const expires = values.expires === undefined ? undefined : new Date(values.expires)
  if (expires && Number.isNaN(expires.getTime())) {
    throw new UsageError('--expires must be a time, such as 2027-01-31')
  }
  return {
    name,
    scopes,
    ...(collection && { collections: collection }),
    ...(expires && { expiresAt: expires.toISOString() }),
    ...(tokensPerDay && { tokensPerDay }),
  }
}

/** Reads all parameters before anything is sent. */
type Action = (
  words: readonly string[],
  values: KeyValues,
) => (client: AgentServer, context: CommandContext) => Promise<number>

const list: Action =
  () =>
  async ({ admin }, context) => {
    printItems(await admin.keys.list({ signal: context.signal }), toRow, context)
    return EXIT.done
  }

function toRow({ id, name, scopes, lastUsedAt, expiresAt }: ApiKey): string[] {
  const used = lastUsedAt ? `used ${lastUsedAt}` : 'never used'
  return [
    id,
    shorten(name, NAME_WIDTH),
    scopes.join(' '),
    used,
    expiresAt ? `until ${expiresAt}` : '',
  ]
}

const create: Action = (words, values) => {
  const request = readKey(words.join(' ').trim(), values)
  return async ({ admin }, { terminal, signal }) => {
    const created = await admin.keys.create(request, { signal })
    if (terminal.json) terminal.printJson(created)
    else {
      terminal.print(created.secret)
      terminal.note(`This is shown only once. The key's id is ${created.id}`)
    }
    return EXIT.done
  }
}

const revoke: Action = (ids) => {
  if (ids.join('') === '') throw new UsageError('keys revoke takes an id')
  return ({ admin }, context) =>
    each(ids, 'revoked', context, (id) => admin.keys.revoke(id, { signal: context.signal }))
}

const ACTIONS = new Map<string, Action>([
  ['list', list],
  ['create', create],
  ['revoke', revoke],
])
