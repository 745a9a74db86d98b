import { createHash } from 'node:crypto'
import { ownerIdOf } from '@agent-server/schemas/operator/api-key.ts'
import type { AgentRequest } from '@agent-server/wire'

/**
 * As many keys as share the conversations. With one each, a first question would find no rules and tools in the cache;
 * with one for all, a provider that serves some fifteen requests a minute from one cache would move on to another.
 */
const KEYS = 8

/** For providers that route by it: the same in every turn of a conversation, without revealing its content. */
export function cacheKeyOf({ caller, sessionId, messages }: AgentRequest): string {
  const begin = sessionId ?? messages.find(({ role }) => role === 'user')?.content
  const digest = createHash('sha256')
    .update(JSON.stringify([ownerIdOf(caller), begin]))
    .digest()
  return `agent-server-${digest.readUInt8() % KEYS}`
}
