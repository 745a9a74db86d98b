import OpenAI, { BadRequestError, InternalServerError, NotFoundError } from 'openai'
import { zodTextFormat } from 'openai/helpers/zod'
import type { ResponseStreamEvent } from 'openai/resources/responses/responses'
import { beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { ResponseEvent } from '../../src/dialects/responses/response-schema.ts'
import { modelRequest, promptOf } from '../support/model-request.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer, TEST_KEY } from '../support/server.ts'
import {
  chunk,
  errorReply,
  streamReply,
  textReply,
  toolCallReply,
} from '../support/upstream-replies.ts'

const upstream = await startScriptedUpstream()
const server = await startServer(modelAt(upstream))
const text = 'Beavers build dams of branches.'
const dams = await server.ingest({ title: 'Beavers', text, url: 'https://beaver.example' })
await server.ingest({ title: 'Owls', text: 'Owls build no dams.', collection: 'birds' })
const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: TEST_KEY, maxRetries: 0 })

beforeEach(() => upstream.always(textReply('Beavers do [1].')))

const input = 'Who builds dams of branches?'
const ask = { model: 'agent', input }
const LAMP = {
  type: 'function' as const,
  name: 'switch_lamp',
  parameters: { type: 'object', properties: {} },
  strict: false,
}
const SEARCH = { type: 'file_search' as const, vector_store_ids: ['corpus'] }
const calling = toolCallReply({ name: 'switch_lamp', arguments: { on: true }, id: 'call_lamp' })

const read = async (body: OpenAI.Responses.ResponseCreateParamsStreaming) =>
  Array.fromAsync(await client.responses.create(body))

/** The types of events, a run of the same as one. */
const typesOf = (events: readonly ResponseStreamEvent[]) =>
  events.map(({ type }) => type).filter((type, index, all) => type !== all[index - 1])

const SEARCHED = [
  'response.output_item.added',
  'response.file_search_call.in_progress',
  'response.file_search_call.searching',
  'response.file_search_call.completed',
  'response.output_item.done',
]
const SAID = [
  'response.output_text.annotation.added',
  'response.output_text.done',
  'response.content_part.done',
  'response.output_item.done',
]

describe('A response', () => {
  it('has the text and what it cites, where in the answer and in the document', async () => {
    const response = await client.responses.create(ask)
    expect(response).toMatchObject({
      id: expect.stringMatching(/^resp_[0-9a-f]{32}$/),
      object: 'response',
      status: 'completed',
      model: 'agent',
      error: null,
      output_text: 'Beavers do [1].',
      usage: { input_tokens: 11, output_tokens: 7, total_tokens: 18 },
    })
    const [message, ...others] = response.output
    expect(others).toEqual([])
    const annotations = [
      {
        type: 'file_citation',
        file_id: dams,
        filename: 'Beavers',
        index: 11,
        number: 1,
        start: 0,
        end: 31,
        url: 'https://beaver.example',
      },
    ]
    expect(message).toMatchObject({ type: 'message', content: [{ annotations }] })
  })

  it('comes as events in the published order, each with its number', async () => {
    const events = await read({ ...ask, stream: true, tools: [SEARCH] })
    expect(typesOf(events)).toEqual([
      'response.created',
      'response.in_progress',
      ...SEARCHED,
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      ...SAID,
      'response.completed',
    ])
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual([...events.keys()])
    for (const event of events) expect(ResponseEvent.safeParse(event).error).toBeUndefined()
    const deltas = events.flatMap((event) =>
      event.type === 'response.output_text.delta' ? [event.delta] : [],
    )
    expect(deltas.join('')).toBe('Beavers do [1].')
  })

  it('is gathered by the helper of the package, which holds it to its rules', async () => {
    upstream.always(calling)
    const stream = client.responses.stream({ ...ask, tools: [LAMP] })
    const { output } = await stream.finalResponse()
    expect(output.map(({ type }) => type)).toEqual(['function_call'])
  })

  it('has its searches where the client gives file_search, and streams none otherwise', async () => {
    const { output } = await client.responses.create({ ...ask, tools: [SEARCH] })
    expect(output[0]).toMatchObject({ type: 'file_search_call', queries: [input], results: null })
    const events = await read({ ...ask, stream: true })
    expect(typesOf(events).filter((type) => type.includes('file_search'))).toEqual([])
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual([...events.keys()])
  })

  it('has its input counted, with what was said before', async () => {
    const model = 'agent'
    const alone = await client.responses.inputTokens.count({ model, input })
    expect(alone).toEqual({ object: 'response.input_tokens', input_tokens: expect.any(Number) })
    expect(alone.input_tokens).toBe(Math.ceil(input.length / 4))
    const { id } = await client.responses.create(ask)
    const after = { model, input, previous_response_id: id }
    const { input_tokens } = await client.responses.inputTokens.count(after)
    expect(input_tokens).toBeGreaterThan(2 * alone.input_tokens)
  })

  it('tells of a search that the model wished, with its results where they are asked for', async () => {
    const searching = toolCallReply({ name: 'semantic_search', arguments: { query: 'owls' } })
    upstream.script(searching, textReply('None [2].'))
    const { output } = await client.responses.create({
      ...ask,
      include: ['file_search_call.results'],
    })
    const found = output.flatMap((item) => (item.type === 'file_search_call' ? [item] : []))
    expect(found.map(({ queries }) => queries)).toEqual([[input], ['owls']])
    expect(found[1]?.results?.[0]).toMatchObject({
      filename: 'Owls',
      text: 'Owls build no dams.',
      attributes: { collection: 'birds' },
    })
  })

  it('searches what file_search names', async () => {
    const search = (
      vector_store_ids: string[],
      options: Partial<OpenAI.Responses.FileSearchTool> = {},
    ) =>
      client.responses.create({
        ...ask,
        include: ['file_search_call.results'],
        tools: [{ type: 'file_search', vector_store_ids, max_num_results: 1, ...options }],
      })
    const namesOf = ({ output: [item] }: OpenAI.Responses.Response) =>
      item?.type === 'file_search_call' && item.results?.map(({ filename }) => filename)
    expect(namesOf(await search(['vs_birds']))).toEqual(['Owls'])
    expect(namesOf(await search(['vs_birds', 'corpus']))).toEqual(['Beavers'])
    const filters = { type: 'ne' as const, key: 'collection', value: 'birds' }
    expect(namesOf(await search(['corpus'], { filters }))).toEqual(['Beavers'])
    const ranking_options = { score_threshold: 1 }
    expect(namesOf(await search(['corpus'], { ranking_options }))).toEqual(['Beavers'])
    expect(namesOf(await search(['vs_birds'], { ranking_options }))).toEqual([])
  })

  it('follows instructions, max_output_tokens and text.format', async () => {
    upstream.always(textReply('{"hour": 10}'))
    const Hours = z.object({ hour: z.int() })
    const response = await client.responses.parse({
      ...ask,
      instructions: 'Be brief.',
      max_output_tokens: 50,
      temperature: 0.5,
      text: { format: zodTextFormat(Hours, 'hours') },
    })
    expect(response.output_parsed).toEqual({ hour: 10 })
    expect(promptOf(upstream.requests.at(-1), 'system')).toMatch(/Be brief\.$/)
    expect(upstream.requests.at(-1)?.body).toMatchObject({
      temperature: 0.5,
      response_format: { type: 'json_schema', json_schema: { name: 'hours', strict: true } },
    })
  })

  it('has every field that Open Responses requires, also where it was not sent', async () => {
    upstream.always(textReply('At ten.'))
    const tools = [{ type: 'function' as const, name: 'look_up', parameters: {}, strict: null }]
    const { data } = await client.responses
      .create({
        ...ask,
        tools: tools.map(({ strict: _strict, ...tool }) => tool as (typeof tools)[0]),
      })
      .withResponse()
    expect(data).toMatchObject({
      background: false,
      frequency_penalty: 0,
      max_tool_calls: null,
      presence_penalty: 0,
      prompt_cache_key: null,
      safety_identifier: null,
      service_tier: 'default',
      temperature: 1,
      tools: [{ type: 'function', name: 'look_up', description: null, strict: false }],
      top_logprobs: 0,
      top_p: 1,
    })
  })

  it('that is cut is incomplete', async () => {
    upstream.always(textReply('Bea', { finishReason: 'length' }))
    expect(await client.responses.create(ask)).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
    })
    expect((await read({ ...ask, stream: true })).at(-1)?.type).toBe('response.incomplete')
  })
})

describe("The client's functions", () => {
  it('are called, and answered in the next request with all that was said', async () => {
    upstream.script(calling)
    const { output } = await client.responses.create({ ...ask, tools: [LAMP], store: false })
    const call = { type: 'function_call', call_id: 'call_lamp', name: 'switch_lamp' }
    expect(output.at(-1)).toMatchObject({ ...call, arguments: '{"on":true}', status: 'completed' })
    const result = {
      type: 'function_call_output' as const,
      call_id: 'call_lamp',
      output: 'It is on.',
    }
    const called = output.filter((item) => item.type === 'function_call')
    const turns = [{ role: 'user' as const, content: input }, ...called, result]
    const next = await client.responses.create({ ...ask, input: turns, tools: [LAMP] })
    expect(next.output_text).toBe('Beavers do [1].')
    const messages = modelRequest(upstream.requests.at(-1)).messages.slice(2)
    expect(messages).toMatchObject([
      { role: 'assistant', tool_calls: [{ id: 'call_lamp' }] },
      { role: 'tool', tool_call_id: 'call_lamp', content: 'It is on.' },
    ])
  })

  it('are answered with the result alone after previous_response_id', async () => {
    upstream.script(calling)
    const { id } = await client.responses.create({ ...ask, tools: [LAMP] })
    const result = {
      type: 'function_call_output' as const,
      call_id: 'call_lamp',
      output: 'It is on.',
    }
    const next = { ...ask, input: [result], previous_response_id: id }
    expect((await client.responses.create(next)).output_text).toBe('Beavers do [1].')
    const stray = client.responses.create({ ...ask, input: [result] })
    await expect(stray).rejects.toMatchObject({ status: 400, param: 'input' })
  })
})

describe('A response that is kept', () => {
  it('is gone on from, read, named by its items, and deleted', async () => {
    const first = await client.responses.create(ask)
    const next = { model: 'agent', input: 'Why do they?', previous_response_id: first.id }
    const second = await client.responses.create(next)
    const turns = modelRequest(upstream.requests.at(-1)).messages.map(({ role }) => role)
    expect(turns).toEqual(['system', 'user', 'assistant', 'user'])
    expect(await client.responses.retrieve(second.id)).toMatchObject({
      id: second.id,
      previous_response_id: first.id,
      output: second.output,
    })

    const [message] = first.output
    const reference = { type: 'item_reference' as const, id: String(message?.id) }
    const question = { role: 'user' as const, content: 'Why?' }
    await client.responses.create({ model: 'agent', input: [reference, question] })
    expect(modelRequest(upstream.requests.at(-1)).messages[1]?.role).toBe('assistant')

    await client.responses.delete(first.id)
    await expect(client.responses.retrieve(first.id)).rejects.toBeInstanceOf(NotFoundError)
    const late = client.responses.create({ ...ask, previous_response_id: first.id })
    await expect(late).rejects.toMatchObject({ status: 400, param: 'previous_response_id' })
    expect((await client.responses.retrieve(second.id)).id).toBe(second.id)
  })

  it('lists what it answered, page by page, through the package', async () => {
    const first = await client.responses.create(ask)
    const parts = [{ type: 'input_text' as const, text: 'And lodges?' }]
    const again = { ...ask, previous_response_id: first.id }
    const { id } = await client.responses.create({
      ...again,
      input: [{ role: 'user', content: parts }],
    })
    const items = await Array.fromAsync(client.responses.inputItems.list(id, { limit: 1 }))
    const said = items.filter((item) => item.type === 'message')
    expect(said.map(({ role, content }) => [role, content[0]])).toMatchObject([
      ['user', { type: 'input_text', text: 'And lodges?' }],
      ['assistant', { type: 'output_text' }],
      ['user', { type: 'input_text', text: input }],
    ])
    expect(new Set(items.map((item) => item.id)).size).toBe(items.length)
    const oldest = await client.responses.inputItems.list(id, { order: 'asc', limit: 1 })
    expect(oldest.data).toMatchObject([{ content: [{ text: input }] }])
    await expect(client.responses.inputItems.list('resp_none')).rejects.toThrow(NotFoundError)
    await expect(client.responses.inputItems.list(id, { after: 'none' })).rejects.toThrow('after')
  })

  it('is not with store: false', async () => {
    const { id } = await client.responses.create({ ...ask, store: false })
    await expect(client.responses.retrieve(id)).rejects.toBeInstanceOf(NotFoundError)
  })
})

describe('A failure', () => {
  it('before the answer is an HTTP status', async () => {
    upstream.always(errorReply(401, 'no'))
    for (const stream of [true, false]) {
      const failure = client.responses.create({ ...ask, stream })
      await expect(failure).rejects.toBeInstanceOf(InternalServerError)
    }
  })

  it('amid it is response.failed, the last event', async () => {
    upstream.always(streamReply(chunk({ content: 'Half ' }), { cut: true }))
    const events = await read({ ...ask, stream: true })
    expect(events.at(-1)).toMatchObject({
      type: 'response.failed',
      response: {
        status: 'failed',
        error: { code: 'server_error' },
        output: [{ content: [{ text: 'Half ' }] }],
        agent: { error: { code: 'upstream_failed' } },
      },
    })
    expect(events.map(({ sequence_number: n }) => n)).toEqual([...events.keys()])
  })

  it.each([
    [{ background: true }, 'background'],
    [{ prompt: { id: 'p' } }, 'prompt'],
    [{ max_tool_calls: 2 }, 'max_tool_calls'],
    [{ parallel_tool_calls: false }, 'parallel_tool_calls'],
    [{ truncation: 'never' }, 'truncation'],
    [{ top_logprobs: 3 }, 'top_logprobs'],
    [{ include: ['message.output_text.logprobs'] }, 'include.0'],
    [{ tools: [{ type: 'file_search', vector_store_ids: ['x'] }] }, 'tools.0.vector_store_ids.0'],
    [{ tool_choice: { type: 'web_search' } }, 'tool_choice'],
    [
      { input: [{ role: 'user', content: [{ type: 'input_file' }] }] },
      'input.0.content.0.file_data',
    ],
    [{ input: [{ role: 'assistant', content: 'x' }] }, 'input'],
    [{ input: [{ type: 'item_reference', id: 'msg_x' }] }, 'input'],
    [{ input: 7 }, 'input'],
    [{ temperature: 3 }, 'temperature'],
  ])('%j is refused by name', async (wrong, param) => {
    const asked = client.post('/responses', { body: { ...ask, ...wrong } })
    const failure = await asked.catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(BadRequestError)
    expect(failure).toMatchObject({ code: 'invalid_request', param })
  })
})
