import { MASTER } from '@agent-server/schemas/operator/api-key.ts'
import type { AgentEvent } from '@agent-server/wire'
import { expect, it } from 'vitest'
import { createCompletionsDialect } from '../../src/dialects/completions/dialect.ts'
import { CompletionRequest } from '../../src/dialects/completions/schema.ts'
import { createResponsesDialect } from '../../src/dialects/responses/dialect.ts'
import { ResponseRequest } from '../../src/dialects/responses/schema.ts'
import { NOTHING_MORE } from '../support/artifact.ts'

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
/** Keeps nothing. */
const history = {
  storedResponses: { find: async () => undefined, add: async () => undefined, maximumBytes: 1_000 },
  conversations: { history: async () => [], append: async () => undefined },
}

const exchanges = {
  'a chat completion': () =>
    createCompletionsDialect(settings).read(CompletionRequest.parse({ messages }), MASTER),
  'an answer of the Responses protocol': () =>
    createResponsesDialect(settings, history).read(
      ResponseRequest.parse({ input: 'When?', store: false }),
      MASTER,
    ),
}

it.each([
  [
    'a chat completion',
    {
      prompt_tokens: 2_000,
      completion_tokens: 300,
      total_tokens: 2_300,
      prompt_tokens_details: { cached_tokens: 1_200, cache_write_tokens: 500 },
      completion_tokens_details: { reasoning_tokens: 250 },
    },
  ],
  [
    'an answer of the Responses protocol',
    {
      input_tokens: 2_000,
      input_tokens_details: { cached_tokens: 1_200, cache_write_tokens: 500 },
      output_tokens: 300,
      output_tokens_details: { reasoning_tokens: 250 },
      total_tokens: 2_300,
    },
  ],
] as const)('%s tells cached, written and thinking tokens', async (name, told) => {
  const exchange = await exchanges[name]()
  await exchange.write([END])
  expect(exchange.whole().usage).toEqual(told)
})
