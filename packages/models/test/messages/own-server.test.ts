import { describe, expect, it } from 'vitest'
import { eachEvent } from '../../../../test/support/batches.ts'
import { startScriptedUpstream } from '../../../../test/support/scripted-upstream.ts'
import { modelAt, startServer, TEST_KEY } from '../../../../test/support/server.ts'
import { chunk, DONE, streamReply, textReply } from '../../../../test/support/upstream-replies.ts'
import type { ChatModel, ModelMessage, ModelRequest } from '../../src/chat-model.ts'
import { PROTOCOLS } from '../../src/protocols.ts'
import { createUpstreamModel } from '../../src/upstream/chat.ts'
import { question, readAnswer, TOOL } from '../upstream/model-for-test.ts'

const upstream = await startScriptedUpstream()
const behind = await startServer(modelAt(upstream))
const quoting = await startServer()

/** This server as the model of another one. */
const modelOf = ({ url }: { url: string }): ChatModel =>
  createUpstreamModel(
    {
      apiKey: TEST_KEY,
      baseUrl: `${url}/v1`,
      model: 'agent',
      api: 'messages',
      idleTimeoutMs: 10_000,
    },
    PROTOCOLS,
  )

const ask = (
  model: ChatModel,
  request: Partial<ModelRequest> = {},
  signal = AbortSignal.timeout(10_000),
) => readAnswer(eachEvent(model.stream(question(request), signal)))

describe('This server, asked in Messages by another one', () => {
  it('answers with text from its documents', async () => {
    await quoting.ingest({ title: 'Hours', text: 'The library opens at nine every morning.' })
    const { text, finish } = await ask(modelOf(quoting))
    expect(text).toContain('opens at nine')
    expect(finish?.reason).toBe('stop')
  })

  it('streams', async () => {
    const gate = Promise.withResolvers<void>()
    upstream.script({
      steps: [
        chunk({ content: 'At ' }),
        { until: gate.promise },
        chunk({ content: 'nine.' }, 'stop'),
        DONE,
      ],
    })
    const events = eachEvent(modelOf(behind).stream(question(), AbortSignal.timeout(10_000)))
    expect((await events.next()).value).toEqual({ type: 'text-delta', text: 'At ' })
    gate.resolve()
    const rest = await Array.fromAsync(events)
    expect(rest).toContainEqual(expect.objectContaining({ type: 'text-delta', text: 'nine.' }))
  })

  it('returns the calls of the tools it is given, and its model gets its reasoning back with their results', async () => {
    const called = { index: 0, id: 'call_1', type: 'function' }
    const { name } = TOOL
    upstream.script(
      streamReply(
        chunk({ reasoning_content: 'The hours, then.' }),
        chunk({ tool_calls: [{ ...called, function: { name, arguments: '{"query":"hours"}' } }] }),
        chunk({}, 'tool_calls'),
        DONE,
      ),
      textReply('At nine.'),
    )
    const model = modelOf(behind)
    const asked: ModelMessage = { role: 'user', content: 'When does the library open?' }
    const first = await ask(model, {
      messages: [asked],
      tools: [TOOL],
      sampling: { effort: 'low' },
    })
    expect(first.calls).toEqual([
      { callId: 'call_1', name: TOOL.name, arguments: '{"query":"hours"}' },
    ])
    const reasoning = first.finish?.reasoning
    expect(reasoning?.length).toBeGreaterThan(0)
    const second = await ask(model, {
      messages: [
        asked,
        { role: 'assistant', content: '', toolCalls: first.calls, reasoning },
        { role: 'tool', callId: 'call_1', content: 'Open from 9' },
      ],
      tools: [TOOL],
    })
    expect(second.text).toBe('At nine.')
    const sent = JSON.stringify(upstream.requests.at(-1)?.body)
    expect(sent).toContain('"reasoning_content":"The hours, then."')
    expect(sent).toContain('Open from 9')
  })

  it('ends the call of its own model when it is left', async () => {
    const controller = new AbortController()
    upstream.script({ steps: [chunk({ content: 'At ' }), { hang: true }] })
    const arrived = upstream.nextRequest()
    const answer = ask(modelOf(behind), {}, controller.signal)
    const request = await arrived
    controller.abort(new Error('left'))
    await expect(answer).rejects.toThrow('left')
    await request.closed
    expect(request.disconnected).toBe(true)
  })
})
