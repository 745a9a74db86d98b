import { hash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { freeObject } from '@agent-server/lib/fields.ts'
import { withExtension } from '@agent-server/lib/media-types.ts'
import { Refusal } from '@agent-server/lib/refusal.ts'
import { isObject, parseJson } from '@agent-server/lib/text/json.ts'
import type { CallToolResult, ContentBlock, ReadResourceResult } from '@modelcontextprotocol/client'
import type { Artifacts } from '../tools/artifacts.ts'
import { kindOf } from './explain-failure.ts'
import { faultOf } from './mend-messages.ts'
import type { RemoteTool } from './session.ts'
import type { ToolChange } from './tool-lock.ts'

/** The maximum number of tools taken from one connection; models choose badly among more. */
const MAX_TOOLS = 128
/** The maximum number of tools of one connection that are listed, those not taken included. */
const MAX_LISTED = 1_000
/** Maximum UTF-16 code units of a tool's schema as JSON. */
const MAX_SCHEMA = 50_000

const Schema = freeObject()

export interface ResolvedTool {
  remote: RemoteTool
  /** Left out by the configuration. */
  off: boolean
  /** Why the tool must not be used; absent if it may be. */
  refusal?: string
  /** What has to be accepted before it may be used. */
  change?: ToolChange
}

/** The tools of a server, without duplicate names, each with what forbids its use; those that are allowed come first. */
export function resolveTools(
  remotes: readonly RemoteTool[],
  allowed: readonly string[] | undefined,
  changes: ReadonlyMap<string, ToolChange>,
): ResolvedTool[] {
  const each = new Map(remotes.toReversed().map((remote) => [remote.name, remote]))
  const unique = remotes.filter((remote) => each.get(remote.name) === remote)
  const isOff = ({ name }: RemoteTool) => allowed !== undefined && !allowed.includes(name)
  const inOrder = [...unique.filter((remote) => !isOff(remote)), ...unique.filter(isOff)]
  return inOrder.slice(0, MAX_LISTED).map((remote, index) => {
    const change = changes.get(remote.name)
    const refusal = index < MAX_TOOLS ? refuse(remote, change) : TOO_MANY
    return {
      remote,
      off: isOff(remote),
      ...(refusal !== undefined && { refusal }),
      ...(change && { change }),
    }
  })
}

const TOO_MANY = `Of one connection, ${MAX_TOOLS} tools are used: name those that the agent needs in its \`allowTools\``

function refuse(remote: RemoteTool, change: ToolChange | undefined): string | undefined {
  const { inputSchema } = remote
  const fault = faultOf(remote)
  if (fault !== undefined) return fault
  if (change === 'new') return `The server added this tool after its tools were accepted; ${HOW}`
  if (change === 'changed') return `The definition has changed since it was accepted; ${HOW}`
  if (JSON.stringify(inputSchema).length > MAX_SCHEMA || !Schema.safeParse(inputSchema).success) {
    return 'The input schema is too large or too deep'
  }
  return undefined
}

const HOW = 'test the connection, review the tool and accept it'

/** The length limit for tool names in the chat-completions API. */
const MAX_LENGTH = 64
const HASH_LENGTH = 8

/**
 * The name under which the model sees a connection's tool. A name that has to be changed to fit gets a hash of the
 * original, so that no two tools share a name; it is never parsed back.
 */
export function mcpToolName(connection: string, tool: string): string {
  const name = `mcp__${connection}__${tool}`
  const allowed = name.replaceAll(/[^A-Za-z0-9_-]/g, '_')
  if (allowed === name && name.length <= MAX_LENGTH) return name
  const prefix = allowed.slice(0, MAX_LENGTH - HASH_LENGTH - 1)
  return `${prefix}_${hash('sha256', name).slice(0, HASH_LENGTH)}`
}

/** Parts of a result that are read. */
const MAX_PARTS = 50
/** Links in a result that are followed, on the server that returned them. */
const MAX_LINKS = 5
/** UTF-16 code units of a text resource that the model reads inline; a longer one becomes a file. */
const MAX_INLINE = 20_000
const MAX_NAME = 100

interface Dependencies {
  artifacts: Pick<Artifacts, 'add'>
  showImage?: ((bytes: Uint8Array) => void) | undefined
  readResource(uri: string, signal: AbortSignal): Promise<ReadResourceResult>
}

/** Renders the result of a call for the model; images, which it is shown too, audio and large resources become files. */
export async function readResult(
  {
    content,
    structuredContent,
    isError: _isError,
    _meta,
    resultType: _kind,
    ...others
  }: CallToolResult,
  { artifacts, showImage, readResource }: Dependencies,
  signal: AbortSignal,
): Promise<string> {
  let links = 0

  async function keep(name: string, mediaType: string, bytes: Uint8Array): Promise<string> {
    if (/^image\//i.test(mediaType)) showImage?.(bytes)
    try {
      const fileName = withExtension(lastPart(name), mediaType)
      const artifact = await artifacts.add({ name: fileName, mediaType, bytes })
      return `[file "${artifact.name}", ${artifact.mediaType}, ${artifact.size} bytes: ${artifact.url}]`
    } catch (error) {
      const reason = error instanceof Refusal ? error.message : kindOf(error)
      return `[a file could not be kept: ${reason}]`
    }
  }

  async function follow(uri: string): Promise<string> {
    links += 1
    if (links > MAX_LINKS) return `[not read: ${uri}]`
    try {
      const { contents } = await readResource(uri, signal)
      const read = contents.slice(0, MAX_PARTS).map(readContents)
      return (await Promise.all(read)).join('\n')
    } catch (error) {
      signal.throwIfAborted()
      return `[could not be read: ${uri}, ${kindOf(error)}]`
    }
  }

  async function readContents(resource: ReadResourceResult['contents'][number]): Promise<string> {
    const { uri, mimeType } = resource
    if ('blob' in resource) {
      return keep(uri, mimeType ?? 'application/octet-stream', Buffer.from(resource.blob, 'base64'))
    }
    if (resource.text.length <= MAX_INLINE) return `${uri}:\n${resource.text}`
    return keep(uri, mimeType ?? 'text/plain', Buffer.from(resource.text))
  }

  async function readBlock(block: ContentBlock): Promise<string> {
    switch (block.type) {
      case 'text':
        return block.text
      case 'image':
      case 'audio':
        return keep(block.type, block.mimeType, Buffer.from(block.data, 'base64'))
      case 'resource':
        return readContents(block.resource)
      case 'resource_link':
        return `${block.name} (${block.uri})\n${await follow(block.uri)}`
    }
  }

  // Sequentially, so that files are numbered in order.
  const parts = await Array.fromAsync(content.slice(0, MAX_PARTS), readBlock)
  const rest = content.length - MAX_PARTS
  if (rest > 0) parts.push(`[cut: ${rest} more parts]`)
  if (structuredContent !== undefined && !saysTheSame(parts, structuredContent)) {
    parts.push(JSON.stringify(structuredContent))
  }
  // Servers of no known version put the answer beside the fields that it has.
  if (parts.length === 0 && Object.keys(others).length > 0) parts.push(JSON.stringify(others))
  return parts.filter(Boolean).join('\n\n') || 'The tool answered nothing.'
}

/** Whether the text is the structured result over again, in whole or as its only field, as the protocol recommends. */
function saysTheSame(parts: readonly string[], structured: unknown): boolean {
  const values = isObject(structured) ? Object.values(structured) : []
  const same = [structured, ...(values.length === 1 ? values : [])]
  const read = parts.map((part) => parseJson(part) ?? part)
  const candidates = [read, ...read, ...parts]
  return same.some((value) => candidates.some((candidate) => isDeepStrictEqual(candidate, value)))
}

function lastPart(uri: string): string {
  return uri.split(/[?#]/)[0]?.split('/').findLast(Boolean)?.slice(-MAX_NAME) ?? 'file'
}
