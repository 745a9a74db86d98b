import { beforeAll, describe, expect, it } from 'vitest'
import { Completion } from '../../src/dialects/completions/answer-schema.ts'
import { startLlamaServer } from '../support/model/llama-server.ts'
import { type ModelRecorder, startModelRecorder } from '../support/model/model-recorder.ts'
import { isChatCompletions, modelAt, startServer, type TestServer } from '../support/server.ts'

// What docs/guides/models.md says that a client may ask of the model.

let server: TestServer
let recorder: ModelRecorder

beforeAll(async () => {
  const llama = await startLlamaServer({ weights: 'smollm2' })
  recorder = await startModelRecorder(llama)
  server = await startServer(modelAt(recorder, { SERVER_MODE: 'knowledge' }))
  await server.ingest({ title: 'Library', text: 'The library opens at nine.' })
  return async () => {
    await server.close()
    recorder.close()
    await llama.kill()
  }
})

async function complete(options: Record<string, unknown>) {
  const messages = [{ role: 'user', content: 'When does the library open?' }]
  const body = { messages, stream: false, max_tokens: 24, temperature: 0, ...options }
  const response = await server.request('/v1/chat/completions', { body })
  expect(response.status, await response.clone().text()).toBe(200)
  const { choices, usage } = Completion.parse(await response.json())
  const [choice] = choices
  return { text: choice?.message.content ?? '', reason: choice?.finish_reason, usage, choices }
}

describe.skipIf(!isChatCompletions)(
  'What a client asks of the model (needs chat completions)',
  () => {
    it.each(['max_tokens', 'max_completion_tokens'])(
      '%s ends the answer as `length`',
      async (name) => {
        const { reason, usage } = await complete({ max_tokens: undefined, [name]: 5 })
        expect(reason).toBe('length')
        expect(usage?.completion_tokens).toBeLessThanOrEqual(5)
      },
    )

    it('stop ends the answer before the word', async () => {
      const whole = await complete({})
      const word = /\p{L}{3,}/u.exec(whole.text.slice(6))?.[0] ?? 'library'
      const { text, reason } = await complete({ stop: [word] })
      expect(text).not.toContain(word)
      expect(reason).toBe('stop')
    })

    it('seed makes the same answer again', async () => {
      const options = { temperature: 1.5, seed: 7 }
      const first = await complete(options)
      const second = await complete(options)
      expect(second.text).toBe(first.text)
      expect((await complete({ temperature: 1.5, seed: 8 })).text).not.toBe(first.text)
    })

    it('response_format holds a JSON schema', async () => {
      const schema = {
        type: 'object',
        properties: { opens: { type: 'string', maxLength: 20 } },
        required: ['opens'],
        additionalProperties: false,
      }
      const { text } = await complete({
        max_tokens: 60,
        response_format: { type: 'json_schema', json_schema: { name: 'hours', schema } },
      })
      expect(Object.keys(JSON.parse(text))).toEqual(['opens'])
    })

    it('temperature, top_p and penalties reach the model', async () => {
      const options = {
        temperature: 0.3,
        top_p: 0.9,
        presence_penalty: 0.1,
        frequency_penalty: 0.2,
      }
      await complete({ ...options, max_tokens: 2 })
      expect(recorder.calls.at(-1)?.body).toMatchObject(options)
    })

    it('n: 2 is refused, and logprobs is accepted but ignored', async () => {
      const messages = [{ role: 'user', content: 'When does the library open?' }]
      const refused = await server.request('/v1/chat/completions', { body: { messages, n: 2 } })
      expect(refused.status).toBe(400)
      const { choices } = await complete({ logprobs: true, top_logprobs: 2 })
      expect(choices[0]?.logprobs).toBeNull()
      expect(recorder.calls.at(-1)?.body).not.toHaveProperty('logprobs')
    })
  },
)
