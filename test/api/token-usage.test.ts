import { Message } from '@agent-server/compat'
import { Run, RunList } from '@agent-server/schemas/operator/run.ts'
import { beforeEach, describe, expect, it } from 'vitest'
import { ResponseObject } from '../../src/dialects/responses/response-schema.ts'
import { ask, complete, readCompletion } from '../support/chat-reader.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer } from '../support/server.ts'
import { textReply, toolCallReply } from '../support/upstream-replies.ts'

const upstream = await startScriptedUpstream()
const server = await startServer(modelAt(upstream))
await server.ingest({ text: 'Beavers build dams.' })

const QUESTION = 'What do beavers build?'

/** A run of two calls of the model, of which the second reports the parts of its tokens. */
beforeEach(() => {
  upstream.script(
    toolCallReply(
      { name: 'semantic_search', arguments: { query: 'beavers' } },
      { usage: { prompt_tokens: 1_500, completion_tokens: 60 } },
    ),
    textReply('Dams [1].', {
      usage: {
        prompt_tokens: 2_000,
        completion_tokens: 40,
        prompt_tokens_details: { cached_tokens: 1_400, cache_write_tokens: 500 },
        completion_tokens_details: { reasoning_tokens: 30 },
      },
    }),
  )
})

describe('The tokens from a model’s cache, into it, and of its thinking', () => {
  it('are told at the end of a chat', async () => {
    expect((await ask(server, QUESTION)).done?.usage).toEqual({
      promptTokens: 3_500,
      completionTokens: 100,
      totalTokens: 3_600,
      cachedTokens: 1_400,
      cacheWriteTokens: 500,
      reasoningTokens: 30,
    })
  })

  it('are told in a chat completion', async () => {
    expect((await complete(server, QUESTION)).usage).toEqual({
      prompt_tokens: 3_500,
      completion_tokens: 100,
      total_tokens: 3_600,
      prompt_tokens_details: { cached_tokens: 1_400, cache_write_tokens: 500 },
      completion_tokens_details: { reasoning_tokens: 30 },
    })
  })

  it('are told at the end of a streamed chat completion', async () => {
    const body = {
      messages: [{ role: 'user', content: QUESTION }],
      stream: true,
      stream_options: { include_usage: true },
    }
    const { chunks } = await readCompletion(await server.request('/v1/chat/completions', { body }))
    expect(chunks.at(-1)?.usage).toMatchObject({
      prompt_tokens_details: { cached_tokens: 1_400, cache_write_tokens: 500 },
      completion_tokens_details: { reasoning_tokens: 30 },
    })
  })

  it('are told in an answer of the Responses protocol', async () => {
    const body = { model: 'agent', input: QUESTION }
    const response = await server.request('/v1/responses', { body })
    expect(ResponseObject.parse(await response.json()).usage).toEqual({
      input_tokens: 3_500,
      input_tokens_details: { cached_tokens: 1_400, cache_write_tokens: 500 },
      output_tokens: 100,
      output_tokens_details: { reasoning_tokens: 30 },
      total_tokens: 3_600,
    })
  })

  it('are told apart from the others in an answer of Anthropic’s protocol', async () => {
    const messages = [{ role: 'user', content: QUESTION }]
    const body = { model: 'agent', max_tokens: 100, messages }
    const response = await server.request('/v1/messages', { body })
    expect(Message.parse(await response.json()).usage).toEqual({
      input_tokens: 1_600,
      output_tokens: 100,
      cache_read_input_tokens: 1_400,
      cache_creation_input_tokens: 500,
    })
  })

  it('are kept with the run, in all and of each call', async () => {
    await ask(server, QUESTION)
    const { runs } = RunList.parse(await (await server.request('/admin/runs')).json())
    const response = await server.request(`/admin/runs/${runs[0]?.id}`)
    const { usage, modelCalls } = Run.parse(await response.json())
    const parts = { cachedTokens: 1_400, cacheWriteTokens: 500, reasoningTokens: 30 }
    expect(usage).toMatchObject(parts)
    expect(modelCalls.map((call) => call.usage)).toEqual([
      { promptTokens: 1_500, completionTokens: 60 },
      { promptTokens: 2_000, completionTokens: 40, ...parts },
    ])
  })
})
