import { MASTER } from '@agent-server/schemas/operator/api-key.ts'
import { expect, it } from 'vitest'
import { toAgentRequest } from '../../src/messages/request.ts'
import { MessagesRequest } from '../../src/messages/schema.ts'

const chatModel = { name: 'scripted', generates: true, supportsTools: true, supportsImages: true }
const settings = { modelName: 'agent', agents: new Map(), defaultTopK: 5, chatModel }

it.each([{ max_tokens: 100 }, {}])('Options of the model are passed on with %j', (limit) => {
  const body = MessagesRequest.parse({
    messages: [{ role: 'user', content: 'When?' }],
    temperature: 0.2,
    stop_sequences: ['.'],
    ...limit,
  })
  const { sampling } = toAgentRequest(body, MASTER, settings)
  expect(sampling).toMatchObject({ temperature: 0.2, stop: ['.'] })
  expect(sampling.maxTokens).toBe(limit.max_tokens)
})
