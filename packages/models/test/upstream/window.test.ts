import { describe, expect, it } from 'vitest'
import { errorReply } from '../../../../test/support/upstream-replies.ts'
import { startModel } from './model-for-test.ts'

const { signal } = new AbortController()

describe('The window of a model', () => {
  it.each<[string, Record<string, unknown>, number | undefined]>([
    ['vLLM', { '/v1/models': listOf({ id: 'qwen3:8b', max_model_len: 8_192 }) }, 8_192],
    ['OpenRouter', { '/v1/models': listOf({ context_length: 128_000 }) }, 128_000],
    ['a server that says nothing', { '/v1/models': listOf({}) }, undefined],
    ['a server without a list', {}, undefined],
    [
      'llama.cpp',
      {
        '/v1/models': listOf({ owned_by: 'llamacpp', meta: { n_ctx_train: 32_768 } }),
        '/props': { default_generation_settings: { n_ctx: 4_096 } },
      },
      4_096,
    ],
    [
      'Ollama, of a loaded model',
      {
        '/v1/models': listOf({ owned_by: 'library' }),
        '/api/show': { capabilities: ['completion', 'tools'] },
        '/api/ps': { models: [{ name: 'test-model', context_length: 16_384 }] },
      },
      16_384,
    ],
    [
      'Ollama, as it is set',
      {
        '/v1/models': listOf({ owned_by: 'library' }),
        '/api/show': { parameters: 'num_ctx    8192\nstop "x"' },
        '/api/ps': { models: [] },
      },
      8_192,
    ],
    [
      'Ollama, by default',
      { '/v1/models': listOf({ owned_by: 'library' }), '/api/show': {}, '/api/ps': {} },
      4_096,
    ],
    [
      'Ollama, where the model is one of several, and named without its tag',
      {
        '/v1/models': listOf(
          { id: 'qwen3:8b', owned_by: 'library' },
          { id: 'test-model:latest', owned_by: 'library' },
        ),
        '/api/show': {},
        '/api/ps': { models: [{ name: 'test-model:latest', context_length: 16_384 }] },
      },
      16_384,
    ],
    [
      'Ollama, where nobody’s models are of its library',
      {
        '/v1/models': listOf({ id: 'hf.co/someone/test-model:Q4_K_M', owned_by: 'someone' }),
        '/api/show': {},
        '/api/ps': {},
      },
      4_096,
    ],
    [
      'LM Studio, of a loaded model',
      {
        '/v1/models': listOf({ owned_by: 'organization_owner' }, { id: 'other' }),
        '/api/v0/models': listOf({ max_context_length: 131_072, loaded_context_length: 8_192 }),
      },
      8_192,
    ],
    [
      'LM Studio, of the model that is loaded, whatever it is called',
      {
        '/v1/models': listOf({ id: 'other', owned_by: 'organization_owner' }, { id: 'more' }),
        '/api/v0/models': listOf(
          { id: 'nomic', type: 'embeddings', loaded_context_length: 2_048 },
          { id: 'other', type: 'llm', loaded_context_length: 16_384 },
        ),
      },
      16_384,
    ],
    [
      'LM Studio, of one that is not loaded',
      {
        '/v1/models': listOf({ owned_by: 'organization_owner' }),
        '/api/v0/models': listOf({ state: 'not-loaded', max_context_length: 131_072 }),
      },
      4_096,
    ],
  ])('is asked of %s', async (_server, told, window) => {
    const test = await startModel()
    test.upstream.tell(told)
    expect(test.model.window).toBeUndefined()
    expect(await test.model.learnWindow(signal)).toBe(window)
    expect(test.model.window).toBe(window)
    expect(test.upstream.requests).toEqual([])
  })

  it.each([
    [listOf({ max_model_len: 8_192 }), 8_192],
    [{ models: 'none' }, undefined],
  ])('is asked for once, also where the answer is no list', async (answer, window) => {
    const { upstream, model } = await startModel()
    upstream.tell({ '/v1/models': answer })
    await model.learnWindow(signal)
    upstream.tell({ '/v1/models': listOf({ max_model_len: 1 }) })
    expect(await model.learnWindow(signal)).toBe(window)
  })

  it.each(['at most 4194304 bytes', 'maximum 4096 KB', 'limit 20,971,520 bytes'])(
    'is not told by a server whose requests may have %s',
    async (words) => {
      const { upstream, model, ask } = await startModel()
      upstream.script(errorReply(413, `Request too large: ${words}`))
      await expect(ask()).rejects.toMatchObject({ code: 'context_length_exceeded' })
      expect(model.window).toBeUndefined()
    },
  )

  it('is asked for again once Ollama has loaded the model', async () => {
    const { upstream, model } = await startModel()
    const told = { '/v1/models': listOf({ owned_by: 'library' }), '/api/show': {} }
    upstream.tell({ ...told, '/api/ps': {} })
    expect(await model.learnWindow(signal)).toBe(4_096)
    const loaded = (context_length: number) => ({
      models: [{ name: 'test-model', context_length }],
    })
    upstream.tell({ ...told, '/api/ps': loaded(8_192) })
    expect(await model.learnWindow(signal)).toBe(8_192)
    upstream.tell({ ...told, '/api/ps': loaded(1_024) })
    expect(await model.learnWindow(signal)).toBe(8_192)
  })

  it.each([
    [
      'llama.cpp',
      errorReply(400, {
        code: 400,
        message: 'the request exceeds the available context size, try increasing it',
        type: 'exceed_context_size_error',
        n_prompt_tokens: 6_517,
        n_ctx: 4_096,
      }),
    ],
    [
      'OpenAI',
      errorReply(400, {
        code: 'context_length_exceeded',
        message:
          "This model's maximum context length is 4096 tokens. However, your messages resulted in 6517 tokens. Please reduce the length of the messages.",
      }),
    ],
    [
      'vLLM',
      errorReply(
        400,
        "This model's maximum context length is 4096 tokens. However, you requested 6517 tokens (6417 in the messages, 100 in the completion).",
      ),
    ],
  ])('is learned from the refusal of %s', async (_server, refusal) => {
    const { upstream, model, ask } = await startModel()
    upstream.script(refusal)
    await expect(ask()).rejects.toMatchObject({
      code: 'context_length_exceeded',
      promptTokens: 6_517,
      window: 4_096,
    })
    expect(model.window).toBe(4_096)
  })

  it.each<[string, string, number | undefined, number | undefined]>([
    ['Anthropic', 'prompt is too long: 9462 tokens > 8000 maximum', 8_000, 9_462],
    [
      'Anthropic, with the answer',
      'input length and `max_tokens` exceed context limit: 7000 + 2000 > 8000',
      8_000,
      undefined,
    ],
    [
      'Gemini',
      'The input token count (9265) exceeds the maximum number of tokens allowed (8000).',
      8_000,
      9_265,
    ],
    [
      'Vertex AI',
      'Unable to submit request because the input token count is 9265 but model only supports up to 8000.',
      8_000,
      9_265,
    ],
    [
      'Mistral',
      'Prompt contains 9265 tokens and 0 draft tokens, too large for model with 8000 maximum context length',
      8_000,
      9_265,
    ],
    [
      'OpenRouter',
      "This endpoint's maximum context length is 8000 tokens. However, you requested about 9265 tokens (9000 of text input, 265 in the output).",
      8_000,
      9_265,
    ],
    [
      'SGLang',
      "The input (9265 tokens) is longer than the model's context length (8000 tokens).",
      8_000,
      9_265,
    ],
    [
      'LM Studio',
      'Trying to keep the first 9265 tokens when context the overflows. However, the model is loaded with context length of only 8000 tokens, which is not enough.',
      8_000,
      9_265,
    ],
    [
      'vLLM, of the prompt alone',
      'The decoder prompt (length 9265) is longer than the maximum model length of 8000.',
      8_000,
      9_265,
    ],
    [
      'vLLM, with the answer',
      'You passed 9265 input tokens and requested 100 output tokens. However, the model’s context length is only 8000 tokens',
      8_000,
      9_265,
    ],
    [
      'Text Generation Inference',
      'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8000. Given: 9265 `inputs` tokens',
      8_000,
      9_265,
    ],
    [
      'Cohere',
      'too many tokens: total number of tokens in the prompt cannot exceed 8000 - received 9265.',
      8_000,
      9_265,
    ],
    ['Moonshot', 'Your request exceeded model token limit: 8000 (requested: 9265)', 8_000, 9_265],
    [
      'Cerebras',
      'Please reduce the length of the messages or completion. Current length is 9265 while limit is 8000',
      8_000,
      9_265,
    ],
    ['DashScope', 'Range of input length should be [1, 8000]', 8_000, undefined],
    [
      'a server that writes numbers with commas',
      'Prompt has 9,265 tokens, but the configured context size is 8,000 tokens',
      8_000,
      9_265,
    ],
    ['Groq', 'Please reduce the length of the messages or completion.', undefined, undefined],
    ['Bedrock', 'Input is too long for requested model.', undefined, undefined],
    [
      'Ollama’s cloud',
      'prompt too long; exceeded max context length by 1265 tokens',
      undefined,
      undefined,
    ],
  ])('is learned from the words of %s', async (_server, words, window, promptTokens) => {
    const { upstream, model, ask } = await startModel()
    upstream.script(errorReply(400, words))
    await expect(ask()).rejects.toMatchObject({
      code: 'context_length_exceeded',
      message:
        'The question is longer than the chat model can read: shorten it, or add its text as a document',
      promptTokens,
      window,
    })
    expect(model.window).toBe(window)
  })

  it('is what a minute has room for, where that is less', async () => {
    const { upstream, model, ask } = await startModel()
    const words =
      'Request too large for gpt-4o on tokens per min (TPM): Limit 8000, Requested 9265. The input or output tokens must be reduced in order to run successfully.'
    upstream.script(errorReply(429, { message: words, code: 'rate_limit_exceeded' }))
    await expect(ask()).rejects.toMatchObject({ promptTokens: 9_265 })
    expect(model.window).toBe(8_000)
    expect(upstream.requests).toHaveLength(1)
  })

  it('is not learned from a limit on the rate', async () => {
    const { upstream, model, ask } = await startModel()
    const words = 'Too many tokens, please wait: the limit is 8000 tokens per minute'
    upstream.script(errorReply(429, words, { 'retry-after': '30' }))
    await expect(ask()).rejects.toMatchObject({ code: 'upstream_rate_limited' })
    expect(model.window).toBeUndefined()
  })

  it('stays unknown where a refusal has no number', async () => {
    const { upstream, model, ask } = await startModel()
    upstream.script(errorReply(400, 'prompt is too long'))
    await expect(ask()).rejects.toMatchObject({ promptTokens: undefined, window: undefined })
    expect(model.window).toBeUndefined()
  })
})

function listOf(...models: object[]) {
  const data = models.map((model) => ({ id: 'test-model', object: 'model', ...model }))
  return { object: 'list', data }
}
