import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { clientOf } from '../support/client.ts'
import { onlyLong } from '../support/long.ts'
import { startOtlpReceiver } from '../support/otlp-receiver.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, TEST_KEY } from '../support/server.ts'
import { defaults, type Launched, launch, startServerProcess } from '../support/server-process.ts'
import { temporaryDirectory } from '../support/temporary-files.ts'
import { textReply, toolCallReply } from '../support/upstream-replies.ts'

const SERVER = 2
const CLIENT = 3
const FAILED = 2
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const CALLER = '00f067aa0ba902b7'
const QUESTION = { messages: [{ role: 'user' as const, content: 'When do owls hunt?' }] }

/** The real server in a process of its own, a scripted model, and a receiver in the place of a collector. */
async function start(more: Record<string, string> = {}) {
  const upstream = await startScriptedUpstream()
  const receiver = await startOtlpReceiver()
  const environment = modelAt(upstream, { ...receiver.environment, ...more })
  const server = await startServerProcess(environment)
  const defaultHeaders = { traceparent: `00-${TRACE}-${CALLER}-01`, baggage: 'owner=ottilie' }
  const of = (name: string) => receiver.spans.filter((span) => span.name.startsWith(name))
  return { upstream, receiver, server, of, client: clientOf(server, { defaultHeaders }) }
}

describe('With an exporter of OpenTelemetry', () => {
  it.each([
    ['exit', async (server: Launched) => expect((await server.exited).code).toBe(1)],
    ['web-ui', (server: Launched) => server.said(/listening at/)],
  ])(
    'a start that fails sends why before it goes on: FAILED_START=%s',
    onlyLong,
    async (then, ended) => {
      const receiver = await startOtlpReceiver()
      const directory = await temporaryDirectory()
      await writeFile(join(directory, 'agent.json'), '{ "name": 7 }')
      // Nothing is sent in time by itself: what comes was sent at the end.
      const never = { OTEL_BLRP_SCHEDULE_DELAY: '600000', OTEL_METRICS_EXPORTER: 'none' }
      const environment = { ...defaults(), ...receiver.environment, ...never, FAILED_START: then }
      await ended(launch({ directory, environment }))
      await expect
        .poll(() => receiver.records.map(({ body }) => body))
        .toEqual(expect.arrayContaining(['sending telemetry', 'the start failed']))
      expect(JSON.stringify(receiver.records)).toContain('name')
    },
  )

  it('a chat is one trace of request, agent, retrieval, model and tools, within that of its caller', async () => {
    const { upstream, receiver, server, of, client } = await start()
    await server.ingest({ title: 'Owls', text: 'Owls hunt at night.' })
    upstream.script(toolCallReply({ name: 'semantic_search', arguments: { query: 'owls' } }))
    upstream.script(textReply('At night [1].'))
    expect(await client.chat({ ...QUESTION, conversationId: 'desk-7' }).text()).toBe(
      'At night [1].',
    )
    await expect.poll(() => of('POST /chat')).toHaveLength(1)

    const [request] = of('POST /chat')
    const [agent] = of('invoke_agent')
    const [tool] = of('execute_tool')
    const [first, second] = of('chat scripted')
    const [initial, again] = of('retrieval')
    expect(request).toMatchObject({
      traceId: TRACE,
      parentSpanId: CALLER,
      kind: SERVER,
      attributes: { 'http.route': '/chat', 'http.response.status_code': 200 },
    })
    expect(agent).toMatchObject({
      traceId: TRACE,
      parentSpanId: request?.spanId,
      attributes: {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.agent.name': 'agent',
        'gen_ai.conversation.id': 'desk-7',
      },
    })
    expect(agent?.name).toBe('invoke_agent agent')
    for (const child of [initial, first, second, tool]) {
      expect(child).toMatchObject({ traceId: TRACE, parentSpanId: agent?.spanId })
    }
    expect(again?.parentSpanId).toBe(tool?.spanId)
    expect(tool?.attributes).toMatchObject({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'semantic_search',
    })
    expect(second).toMatchObject({
      kind: CLIENT,
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.request.model': 'scripted',
        'gen_ai.usage.input_tokens': 11,
        'gen_ai.usage.output_tokens': 7,
        'server.address': '127.0.0.1',
      },
    })
    // The model is told which call of the trace it serves, and nothing else of the caller.
    const { headers } = upstream.requests.at(-1) ?? {}
    expect(headers?.traceparent).toBe(`00-${TRACE}-${second?.spanId}-01`)
    expect(headers?.baggage).toBeUndefined()
    expect([...receiver.services]).toEqual(['agent-server'])
    expect(await server.said(/"msg":"chat"/)).toContain(TRACE)
    for (const said of ['owls', 'Owls', 'night', TEST_KEY, 'ottilie']) {
      expect(receiver.sent()).not.toContain(said)
    }
  })

  it.each(['span_only', 'true'])(
    'what is asked, answered and called is in the spans where the operator wants it: %s',
    onlyLong,
    async (wanted) => {
      const capture = { OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: wanted }
      const { upstream, server, of, client, receiver } = await start(capture)
      await server.ingest({ title: 'Owls', text: 'Owls hunt at night.' })
      upstream.script(toolCallReply({ name: 'semantic_search', arguments: { query: 'owls' } }))
      upstream.script(textReply('At night [1].'))
      const { id } = await client.conversations.create()
      await client.chat({ ...QUESTION, conversation: { id } }).text()
      await expect.poll(() => of('POST /chat')).toHaveLength(1)
      const [agent] = of('invoke_agent')
      const [tool] = of('execute_tool')
      const [first, second] = of('chat scripted')
      const quoted = (span: typeof agent, name: string) => JSON.parse(`${span?.attributes[name]}`)
      const text = (content: string) => [{ type: 'text', content }]
      const question = { role: 'user', parts: text('When do owls hunt?') }
      const answer = { role: 'assistant', parts: text('At night [1].'), finish_reason: 'stop' }
      expect(agent?.attributes['gen_ai.conversation.id']).toBe(id)
      expect(quoted(agent, 'gen_ai.input.messages')).toEqual([question])
      expect(quoted(agent, 'gen_ai.output.messages')).toEqual([answer])
      expect(quoted(second, 'gen_ai.output.messages')).toEqual([answer])
      expect(quoted(tool, 'gen_ai.tool.call.arguments')).toEqual({ query: 'owls' })
      expect(quoted(tool, 'gen_ai.tool.call.result')).toContain('Owls hunt at night.')
      expect(quoted(first, 'gen_ai.output.messages')).toMatchObject([
        { parts: [{ type: 'tool_call', name: 'semantic_search', arguments: '{"query":"owls"}' }] },
      ])
      const sent = JSON.stringify(quoted(second, 'gen_ai.input.messages'))
      expect(sent).toMatch(/"system".*When do owls hunt\?.*"tool_call_response".*hunt at night/s)
      expect(receiver.sent()).not.toContain(TEST_KEY)
    },
  )

  it(
    'what fails says how, and not in which words; what is left is sent at the end',
    onlyLong,
    async () => {
      const { upstream, of, client, server } = await start({ OTEL_BSP_SCHEDULE_DELAY: '60000' })
      upstream.script({ status: 401, steps: [{ send: '{"error":{"message":"a wrong word"}}' }] })
      await expect(client.chat(QUESTION).text()).rejects.toThrow()
      expect(of('chat')).toEqual([])
      expect(await server.stop()).toEqual({ code: 0, signal: null })
      expect(of('chat scripted')[0]).toMatchObject({
        status: { code: FAILED },
        attributes: { 'error.type': expect.stringMatching(/^\w+$/) },
      })
    },
  )

  it('metrics and logs are sent, too', async () => {
    const { receiver, server } = await start({ LOG_LEVEL: 'info' })
    await server.ingest({ title: 'Owls', text: 'Owls hunt at night.' })
    expect((await server.request('/query', { body: { query: 'owls' } })).status).toBe(200)
    const metric = (name: string) => JSON.stringify(receiver.metrics.get(`agent_server_${name}`))
    await vi.waitFor(() => {
      expect(metric('search_seconds')).toMatch(/"count":"?1\b/)
      expect(metric('documents')).toContain('ready')
      expect(receiver.records).toContainEqual(
        expect.objectContaining({
          body: 'query',
          severityNumber: 9,
          traceId: expect.stringMatching(/^\w{32}$/),
        }),
      )
    }, 20_000)
    expect(receiver.sent()).not.toContain('hunt at night')
    expect(receiver.sent()).not.toContain(TEST_KEY)
  })

  it(
    'strangers begin no trace, and a receiver that is away holds nothing up and is told of',
    onlyLong,
    async () => {
      const { server, receiver, client } = await start({
        OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
        OTEL_EXPORTER_OTLP_TIMEOUT: '500',
      })
      await fetch(`${server.url}/documents`)
      expect((await client.documents.list().page()).items).toEqual([])
      await vi.waitFor(() => expect(server.stdout).toContain('sending telemetry failed'), 20_000)
      expect(receiver.spans).toEqual([])
      const ended = await server.stop()
      expect(ended, server.stdout.slice(-1_500) + server.stderr).toEqual({ code: 0, signal: null })
    },
  )
})

const NONE = {
  OTEL_TRACES_EXPORTER: 'none',
  OTEL_METRICS_EXPORTER: 'none',
  OTEL_LOGS_EXPORTER: 'none',
}

describe('Without an exporter', () => {
  it.each([{ OTEL_SDK_DISABLED: 'true' }, NONE])(
    'nothing is loaded or sent: %j',
    onlyLong,
    async (off) => {
      const { upstream, receiver, server, client } = await start(off)
      upstream.script(textReply('At night.'))
      expect(await client.chat(QUESTION).text()).toBe('At night.')
      expect(upstream.requests[0]?.headers.traceparent).toBeUndefined()
      expect(server.stdout).not.toContain('sending telemetry')
      await server.stop()
      expect(receiver.sent()).toBe('')
    },
  )
})
