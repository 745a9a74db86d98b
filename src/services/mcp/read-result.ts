import type { CallToolResult, ContentBlock, ReadResourceResult } from '@modelcontextprotocol/client'
import type { Artifacts } from '../tools/artifacts.ts'
import { ToolFailure } from '../tools/tool-error.ts'
import { kindOf } from './explain-failure.ts'

/** Parts of a result that are read. */
const MAXIMUM_PARTS = 50
/** Links of a result that are followed, on the server that gave them. */
const MAXIMUM_LINKS = 5
/** UTF-16 code units of a text resource that the model reads; a longer one becomes a file. */
const MAXIMUM_INLINE = 20_000
const MAXIMUM_NAME = 100

interface Dependencies {
  artifacts: Pick<Artifacts, 'add'>
  readResource(uri: string, signal: AbortSignal): Promise<ReadResourceResult>
}

/** What a call answered, as the model reads it; pictures, sounds and large resources become files. */
export async function readResult(
  { content, structuredContent }: CallToolResult,
  { artifacts, readResource }: Dependencies,
  signal: AbortSignal,
): Promise<string> {
  let links = 0

  async function keep(name: string, mediaType: string, bytes: Uint8Array): Promise<string> {
    try {
      const artifact = await artifacts.add({ name: lastPart(name), mediaType, bytes })
      return `[file "${artifact.name}", ${artifact.mediaType}, ${artifact.size} bytes: ${artifact.url}]`
    } catch (error) {
      const reason = error instanceof ToolFailure ? error.message : kindOf(error)
      return `[a file could not be kept: ${reason}]`
    }
  }

  async function follow(uri: string): Promise<string> {
    links += 1
    if (links > MAXIMUM_LINKS) return `[not read: ${uri}]`
    try {
      const { contents } = await readResource(uri, signal)
      const read = contents.slice(0, MAXIMUM_PARTS).map(readContents)
      return (await Promise.all(read)).join('\n')
    } catch (error) {
      signal.throwIfAborted()
      return `[could not be read: ${uri}, ${kindOf(error)}]`
    }
  }

  async function readContents(resource: ReadResourceResult['contents'][number]): Promise<string> {
    const { uri, mimeType } = resource
    if ('blob' in resource) {
      return keep(uri, mimeType ?? 'application/octet-stream', fromBase64(resource.blob))
    }
    if (resource.text.length <= MAXIMUM_INLINE) return `${uri}:\n${resource.text}`
    return keep(uri, mimeType ?? 'text/plain', new TextEncoder().encode(resource.text))
  }

  async function readBlock(block: ContentBlock): Promise<string> {
    switch (block.type) {
      case 'text':
        return block.text
      case 'image':
      case 'audio':
        return keep(block.type, block.mimeType, fromBase64(block.data))
      case 'resource':
        return readContents(block.resource)
      case 'resource_link':
        return `${block.name} (${block.uri})\n${await follow(block.uri)}`
      default:
        return block satisfies never
    }
  }

  const parts: string[] = []
  // One after the other: files are to be numbered in their order.
  for (const block of content.slice(0, MAXIMUM_PARTS)) parts.push(await readBlock(block))
  const rest = content.length - MAXIMUM_PARTS
  if (rest > 0) parts.push(`[cut: ${rest} more parts]`)
  const text = parts.join('\n\n')
  if (text !== '' || structuredContent === undefined) return text || 'The tool answered nothing.'
  return JSON.stringify(structuredContent)
}

function fromBase64(data: string): Uint8Array {
  return Buffer.from(data, 'base64')
}

function lastPart(uri: string): string {
  return uri.split(/[?#]/)[0]?.split('/').findLast(Boolean)?.slice(-MAXIMUM_NAME) ?? 'file'
}
