import { freeObject } from '../../schemas/free-object.ts'
import type { RemoteTool } from './open-session.ts'
import type { Change } from './pins.ts'

/** Tools of one connection that are taken; models choose badly among more. */
const MAXIMUM_TOOLS = 128
/** UTF-16 code units of a tool's schema, as JSON. */
const MAXIMUM_SCHEMA = 50_000

const Schema = freeObject()

export interface JudgedTool {
  remote: RemoteTool
  /** Left out by the configuration. */
  off: boolean
  /** Why it must not be used. */
  refusal?: string
}

/** The tools of a server, each once, with what speaks against using it. */
export function judgeTools(
  remotes: readonly RemoteTool[],
  allowed: readonly string[] | undefined,
  changes: ReadonlyMap<string, Change>,
): JudgedTool[] {
  const each = new Map(remotes.toReversed().map((remote) => [remote.name, remote]))
  const unique = remotes.filter((remote) => each.get(remote.name) === remote)
  return unique.slice(0, MAXIMUM_TOOLS).map((remote) => {
    const off = allowed !== undefined && !allowed.includes(remote.name)
    const refusal = refuse(remote, changes.get(remote.name))
    return { remote, off, ...(refusal !== undefined && { refusal }) }
  })
}

function refuse({ inputSchema }: RemoteTool, change: Change | undefined): string | undefined {
  if (change === 'new')
    return `The server has added this tool since its tools were accepted; ${HOW}`
  if (change === 'changed') return `The definition has changed since it was accepted; ${HOW}`
  if (
    JSON.stringify(inputSchema).length > MAXIMUM_SCHEMA ||
    !Schema.safeParse(inputSchema).success
  ) {
    return 'The input schema is too large or too deep'
  }
  return undefined
}

const HOW = 'look at it and accept it with POST /agent/mcp/{connection}/test {"accept": true}'
