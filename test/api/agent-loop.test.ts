import { describe, expect, it } from 'vitest'
import { verifies } from '../requirements.ts'
import { ask, complete, readChat } from '../support/chat-reader.ts'
import { askBy, WAYS } from '../support/every-way.ts'
import { modelRequest, toolResults } from '../support/model-request.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer } from '../support/server.ts'
import { writeAgentFile } from '../support/temporary-files.ts'
import {
  chunk,
  errorReply,
  fixtureReply,
  streamReply,
  textReply,
  toolCallReply,
} from '../support/upstream-replies.ts'

const upstream = await startScriptedUpstream()
const server = await startServer(modelAt(upstream))
await server.ingest({ title: 'Owls', text: 'Owls hoot at night.' })
await server.ingest({ title: 'Beavers', text: 'Beavers build dams.' })

const search = (query: string, id = 'call_1') => ({
  name: 'semantic_search',
  arguments: { query, topK: 1 },
  id,
})
const results = () => toolResults(upstream.requests.at(-1))

describe.each(WAYS)('An agent asked by %s', (way) => {
  const run = (...scripts: Parameters<typeof askBy>[2]) => askBy(way, { server, upstream }, scripts)

  it(
    'calls ten tools of one round, and gives the model each result in its order',
    verifies('chat.tool-loop', 'loop.parallel'),
    async () => {
      const calls = Array.from({ length: 10 }, (_, n) =>
        search(n % 2 === 0 ? 'owls' : 'beavers', `call_${n}`),
      )
      const { answer, extras } = await run(toolCallReply(calls), textReply('Both [1][2].'))
      expect(answer).toBe('Both [1][2].')
      expect(extras.hits.map(({ title }) => title).toSorted()).toEqual(['Beavers', 'Owls'])
      expect(results().map((text) => /\[\d\] (\w+)/.exec(text)?.[1])).toEqual(
        Array.from({ length: 5 }, () => ['Owls', 'Beavers']).flat(),
      )
    },
  )

  it('is told which words of its search were taken for typing errors', async () => {
    await run(toolCallReply([search('baevers building dams')]), textReply('Beavers [1].'))
    expect(results()).toEqual([
      expect.stringMatching(
        /Beavers build dams\..*<\/passages>\n“baevers” was not found: searched for “beavers”\.$/s,
      ),
    ])
    await run(toolCallReply([search('beavers building dams')]), textReply('Beavers [1].'))
    expect(results()).toEqual([expect.stringMatching(/<\/passages>$/)])
  })

  it.each([
    ['a tool that is not there', { name: 'fly', arguments: {} }, /^There is no tool "fly"$/],
    ['no name at all', { name: '', arguments: '{"query":"owls"}' }, /^There is no tool ""$/],
    ['a broken JSON', { name: 'semantic_search', arguments: '{"query": "ow' }, /not valid JSON/],
    ['a missing field', { name: 'semantic_search', arguments: {} }, /^Invalid arguments:.*query/s],
  ])(
    'tells the model of %s, which may then do better',
    verifies('loop.mistakes'),
    async (_case, call, expected) => {
      const { answer, extras } = await run(
        toolCallReply(call),
        toolCallReply(search('owls', 'call_2')),
        textReply('Owls hoot [1].'),
      )
      expect(answer).toBe('Owls hoot [1].')
      expect(extras).toMatchObject({ finishReason: 'stop' })
      expect(results()[0]).toMatch(expected)
      expect(results()[1]).toContain('Owls hoot')
    },
  )

  it('is stopped after its rounds, and says so', verifies('loop.limits'), async () => {
    const rounds = Array.from({ length: 8 }, (_, n) => toolCallReply(search('owls', `c${n}`)))
    const { extras } = await run(...rounds)
    expect(extras).toMatchObject({ finishReason: 'round_limit', limitsReached: ['rounds'] })
    expect(extras.hits.length).toBeGreaterThan(0)
  })

  it('says nothing of limits where none was reached', verifies('loop.limits'), async () => {
    const { extras } = await run(textReply('Hello.'))
    expect(extras.finishReason).toBe('stop')
    expect(extras).not.toHaveProperty('limitsReached')
  })

  it.each([
    'openai-tool-calls',
    'ollama-tool-calls-without-index',
    'gemini-tool-calls',
    'gemini-split-tool-call',
    'vllm-tool-calls-repeated-index',
    'vllm-tool-call-new-id-per-fragment',
    'openrouter-tool-call',
    'lm-studio-tool-call',
    'deepseek-tool-call',
    'llama-cpp-tool-call',
    'anthropic-tool-call',
  ])(
    'goes on after the calls that %s has, each with a result of its own',
    verifies('loop.providers'),
    async (fixture) => {
      const { answer } = await run(fixtureReply(fixture), textReply('Done.'))
      expect(answer).toMatch(/^(Looking it up\.\n\n)?Done\.$/)
      const [calls] = modelRequest(upstream.requests.at(-1)).messages.flatMap(({ tool_calls }) =>
        tool_calls ? [tool_calls] : [],
      )
      expect(calls?.length).toBeGreaterThan(0)
      expect(results()).toEqual(calls?.map(() => 'There is no tool "search_documents"'))
    },
  )
})

describe('The limits of agent.json', verifies('loop.limits'), () => {
  const start = async (limits: object) =>
    startServer(modelAt(upstream, { AGENT_CONFIG: await writeAgentFile({ limits }) }))

  it.each([
    ['rounds', { rounds: 2 }, 'round_limit', 2],
    ['toolCalls', { toolCalls: 1 }, 'call_limit', 2],
    ['tokens', { tokens: 1_000 }, 'token_limit', 2],
  ])('bound the %s of a run', async (name, limits, reason, asked) => {
    const own = await start(limits)
    upstream.always(
      toolCallReply(search('owls'), { usage: { prompt_tokens: 2_000, completion_tokens: 10 } }),
    )
    const before = upstream.requests.length
    const { done } = await ask(own, 'Who hoots?')
    expect(done).toMatchObject({ finishReason: reason, limitsReached: [name] })
    expect(upstream.requests.length - before).toBe(asked)
  })

  it('bound its time from the first word on: a tool is ended, and the model answers', async () => {
    const own = await start({ seconds: 1 })
    upstream.script(
      streamReply(chunk({ content: 'Wait.' }), { pauseMs: 1_100 }, ...toolCallSteps()),
      textReply('It took too long.'),
    )
    const { answer, done } = await ask(own, 'Who hoots?')
    expect(answer).toBe('Wait.\n\nIt took too long.')
    expect(done).toMatchObject({ finishReason: 'stop', limitsReached: ['seconds'] })
  })

  const toolCallSteps = () => [
    chunk({
      tool_calls: [
        { index: 0, id: 'a', function: { name: 'semantic_search', arguments: '{"query":"owls"}' } },
      ],
    }),
    chunk({}, 'tool_calls'),
  ]
})

describe('A model that cannot call tools', () => {
  it(
    'is found out by its refusal, answers from the passages, and is told as such',
    verifies('loop.no-tools'),
    async () => {
      const own = await startServer(modelAt(upstream))
      await own.ingest({ text: 'Owls hoot at night.' })
      const refusal = errorReply(400, 'registry.ollama.ai/library/x does not support tools')
      upstream.script(refusal, textReply('At night [1].'))
      const { answer, done } = await ask(own, 'When do owls hoot?')
      expect(answer).toBe('At night [1].')
      expect(done?.hits).toHaveLength(1)
      expect(modelRequest(upstream.requests.at(-1)).tools).toEqual([])
      const capabilities = await (await own.request('/agent/capabilities')).json()
      expect(capabilities).toMatchObject({ chat: { model: 'scripted', tools: false } })
      const tools = await (await own.request('/agent/tools')).json()
      expect(JSON.stringify(tools)).not.toContain('"state":"on"')
    },
  )
})

describe('What a provider attaches to a call', verifies('completions.extras'), () => {
  const LAMP = { type: 'function', function: { name: 'search_documents' } }

  it.each([
    ['gemini-tool-calls', 'extra_content'],
    ['deepseek-tool-call', 'reasoning_content'],
    ['openrouter-tool-call', 'reasoning_details'],
  ])('goes to the client with its call, and back with the result: %s', async (fixture, field) => {
    upstream.script(fixtureReply(fixture))
    const { choices } = await complete(server, 'Search.', { tools: [LAMP] })
    const message = choices[0]?.message
    expect(JSON.stringify(message)).toContain(`"${field}"`)

    upstream.script(textReply('Found.'))
    const results = message?.tool_calls?.map(({ id }) => ({
      role: 'tool',
      tool_call_id: id,
      content: 'found',
    }))
    const messages = [{ role: 'user', content: 'Search.' }, message, ...(results ?? [])]
    await complete(server, '', { messages, tools: [LAMP] })
    const sent = modelRequest(upstream.requests.at(-1)).messages
    expect(JSON.stringify(sent.find(({ role }) => role === 'assistant'))).toContain(`"${field}"`)
  })

  it('is streamed as it is told plain', async () => {
    upstream.script(fixtureReply('gemini-tool-calls'), fixtureReply('gemini-tool-calls'))
    const messages = [{ role: 'user', content: 'Search.' }]
    const plain = await complete(server, 'Search.', { tools: [LAMP] })
    const response = await server.request('/v1/chat/completions', {
      body: { messages, tools: [LAMP] },
    })
    const text = await response.text()
    const signature = /thought_signature":"([^"]+)"/.exec(JSON.stringify(plain))?.[1]
    expect(signature).toBeDefined()
    expect(text).toContain(signature)
  })
})

describe('Steps with includeSteps', () => {
  it('tell a failed call as one', verifies('chat.steps'), async () => {
    upstream.script(toolCallReply({ name: 'fly', arguments: {} }), textReply('No.'))
    const body = { messages: [{ role: 'user', content: 'Fly!' }], includeSteps: true }
    const { frames } = await readChat(await server.request('/chat', { body }))
    expect(frames.map(({ frame }) => frame)).toContainEqual(
      expect.objectContaining({ type: 'tool-result', tool: 'fly', isError: true }),
    )
  })
})
