import { hash } from 'node:crypto'

/** What chat-completions models allow. */
const MAXIMUM_LENGTH = 64
const HASH_LENGTH = 8

/**
 * The name under which the model sees a tool of a connection. A name that has to be changed to fit bears a
 * hash of what it was, so that no two tools get the same; nobody ever reads it back.
 */
export function mcpToolName(connection: string, tool: string): string {
  const wanted = `mcp__${connection}__${tool}`
  const allowed = wanted.replaceAll(/[^A-Za-z0-9_-]/g, '_')
  if (allowed === wanted && wanted.length <= MAXIMUM_LENGTH) return wanted
  const kept = allowed.slice(0, MAXIMUM_LENGTH - HASH_LENGTH - 1)
  return `${kept}_${hash('sha256', wanted).slice(0, HASH_LENGTH)}`
}
