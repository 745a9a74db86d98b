import { describe, expect, it, vi } from 'vitest'
import { Completion } from '../../src/dialects/completions/answer-schema.ts'
import { NO_TOOLS } from '../support/model/agents.ts'
import { ingestHandbook } from '../support/model/handbook.ts'
import { isShort, startLlamaServer } from '../support/model/llama-server.ts'
import { startModelRecorder } from '../support/model/model-recorder.ts'
import { isChatCompletions, modelAt, startServer } from '../support/server.ts'
import { writeAgentFile } from '../support/temporary-files.ts'

/** Of the tokens that were sent before, how many are read from the cache, at least. */
const SHARE = 0.8

const QUESTIONS = [
  'How many days of annual leave do full-time staff have?',
  'And how many of them can be carried over?',
  'How many weeks of parental leave are paid at full salary?',
  'From which day of illness is a doctor’s note needed?',
  'Thank you. On which day is everybody in the office?',
]

const AGENTS = [
  ['without tools', 'smollm2', NO_TOOLS],
  ['with its tools', 'qwen', {}],
] as const

describe.each(AGENTS.slice(0, isShort ? 1 : undefined))(
  'Five turns %s',
  (_with, weights, agent) => {
    it.runIf(isChatCompletions)(
      'are read from the model’s cache, apart from what is new (needs chat completions)',
      async () => {
        const llama = await startLlamaServer({ weights, context: 8_192 })
        const recorder = await startModelRecorder(llama)
        const AGENT_CONFIG = await writeAgentFile(agent)
        const server = await startServer(modelAt(recorder, { AGENT_CONFIG }))
        await ingestHandbook(server)

        const messages: { role: string; content: string }[] = []
        const turns = []
        for (const question of QUESTIONS) {
          messages.push({ role: 'user', content: question })
          const body = { messages, stream: false, topK: 3, max_tokens: 60 }
          const response = await server.request('/v1/chat/completions', { body })
          const { choices, usage } = Completion.parse(await response.json())
          messages.push({ role: 'assistant', content: choices[0]?.message.content ?? '' })
          await vi.waitFor(() => expect(recorder.open).toBe(0))
          const { cached = 0, evaluated = 0 } = recorder.calls.at(-1) ?? {}
          turns.push({ cached, sent: cached + evaluated, calls: recorder.calls.length, usage })
        }

        for (const [index, { cached, usage }] of turns.entries()) {
          const before = turns[index - 1]
          if (!before) continue
          const seen = JSON.stringify(turns)
          expect.soft(cached / before.sent, seen).toBeGreaterThanOrEqual(SHARE)
          expect.soft(usage).toHaveProperty('prompt_tokens_details.cached_tokens')
        }
      },
    )
  },
)
