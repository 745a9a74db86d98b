import { MASTER } from '@agent-server/schemas/operator/api-key.ts'
import type { AgentEvent } from '@agent-server/wire'
import { expect, it } from 'vitest'
import { NOTHING_MORE } from '../../../../test/support/artifact.ts'
import { createMessagesDialect } from '../../src/messages/dialect.ts'
import { MessagesRequest } from '../../src/messages/schema.ts'

const usage = {
  promptTokens: 2_000,
  completionTokens: 300,
  totalTokens: 2_300,
  cachedTokens: 1_200,
  cacheWriteTokens: 500,
  reasoningTokens: 250,
}
const END: AgentEvent = { type: 'run-end', reason: 'stop', hits: [], usage, ...NOTHING_MORE }
const chatModel = { name: 'scripted', generates: true, supportsTools: true, supportsImages: true }
const settings = { modelName: 'agent', agents: new Map(), defaultTopK: 5, chatModel }
const messages = [{ role: 'user', content: 'When?' }]

it('An answer of Anthropic’s protocol tells cached and written tokens', async () => {
  const body = MessagesRequest.parse({ max_tokens: 100, messages })
  const exchange = await createMessagesDialect(settings).read(body, MASTER)
  await exchange.write([END])
  expect(exchange.whole().usage).toEqual({
    input_tokens: 300,
    output_tokens: 300,
    cache_read_input_tokens: 1_200,
    cache_creation_input_tokens: 500,
  })
})
