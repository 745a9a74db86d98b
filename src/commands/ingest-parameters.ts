import { basename, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { Metadata } from '../schemas/metadata.ts'

const LANES = 8
const MOST_LANES = 32

const OPTIONS = {
  server: { type: 'string' },
  include: { type: 'string', multiple: true },
  metadata: { type: 'string', multiple: true },
  name: { type: 'string' },
  concurrency: { type: 'string' },
  hidden: { type: 'boolean' },
  help: { type: 'boolean' },
} as const

export interface IngestParameters {
  folder: string
  server: string | undefined
  include: readonly string[]
  metadata: Metadata
  name: string
  concurrency: number
  hidden: boolean
}

/** Nothing where the command is to say how it is called. Throws an Error that names the option at fault. */
export function readIngestParameters(parameters: readonly string[]): IngestParameters | undefined {
  const { values, positionals } = parse([...parameters])
  const [folder, ...more] = positionals
  if (folder === undefined || more.length > 0 || values.help) return undefined
  const concurrency = Number(values.concurrency ?? LANES)
  if (!Number.isInteger(concurrency) || concurrency < 1 || concurrency > MOST_LANES) {
    throw new Error(`--concurrency must be a number from 1 to ${MOST_LANES}`)
  }
  const { server, include = [], hidden = false, name = basename(resolve(folder)) } = values
  if (server !== undefined && !/^https?:$/.test(URL.parse(server)?.protocol ?? '')) {
    throw new Error('--server must be a URL that begins with http:// or https://')
  }
  return {
    folder,
    server,
    include,
    hidden,
    name,
    concurrency,
    metadata: toMetadata(values.metadata ?? []),
  }
}

function parse(args: string[]) {
  try {
    return parseArgs({ args, options: OPTIONS, allowPositionals: true })
  } catch (error) {
    throw error instanceof TypeError ? new Error(error.message) : error
  }
}

function toMetadata(pairs: readonly string[]): Metadata {
  const entries = pairs.map((pair) => {
    const [, name, value] = /^([^=]+)=(.*)$/s.exec(pair) ?? []
    if (name === undefined || value === undefined) {
      throw new Error(`--metadata must be a name and a value, such as language=en, not ${pair}`)
    }
    return [name, value]
  })
  const { data, error } = Metadata.safeParse(Object.fromEntries(entries))
  if (error) throw new Error(`--metadata ${error.issues[0]?.message ?? 'is invalid'}`)
  return data
}
