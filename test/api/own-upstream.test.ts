import { CHAT_APIS } from '@agent-server/models'
import { describe, expect, it } from 'vitest'
import { readChat } from '../support/chat-reader.ts'
import { modelRequest } from '../support/model-request.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { startServer, TEST_KEY } from '../support/server.ts'
import { chunk, DONE, streamReply, textReply, toolCallReply } from '../support/upstream-replies.ts'

const upstream = await startScriptedUpstream()
const inner = await startServer({
  CHAT_BASE_URL: upstream.url,
  CHAT_API_KEY: 'none',
  CHAT_MODEL: 'scripted',
})

describe.each(CHAT_APIS)('A server of ours as the model of another, asked in %s', async (api) => {
  const outer = await startServer({
    CHAT_BASE_URL: `${inner.url}/v1`,
    CHAT_API_KEY: TEST_KEY,
    CHAT_MODEL: 'agent',
    CHAT_API: api,
  })
  await outer.ingest({ title: 'Beavers', text: 'Beavers build dams.' })
  const ask = (more: object = {}, signal?: AbortSignal) =>
    outer.request('/chat', {
      body: { messages: [{ role: 'user', content: 'Who builds dams?' }], ...more },
      ...(signal && { signal }),
    })

  it('streams its answer', async () => {
    upstream.always(textReply('Beavers do.'))
    const { answer, done } = await readChat(await ask())
    expect(answer).toBe('Beavers do.')
    expect(done?.hits[0]?.title).toBe('Beavers')
  })

  it('calls the tools of the other, and is answered with their results', async () => {
    const call = { id: 'call_1', name: 'semantic_search', arguments: { query: 'dams' } }
    upstream.script(toolCallReply(call), textReply('Beavers do.'))
    const { answer } = await readChat(await ask())
    expect(answer).toBe('Beavers do.')
    const last = modelRequest(upstream.requests.at(-1))
    expect(last.messages.slice(-2)).toMatchObject([
      { role: 'assistant', tool_calls: [{ function: { name: 'semantic_search' } }] },
      { role: 'tool', content: expect.stringContaining('Beavers build dams.') },
    ])
  })

  it('gets its reasoning back with the results', async () => {
    const call = { id: 'call_1', name: 'semantic_search', arguments: { query: 'dams' } }
    upstream.script(
      streamReply(
        chunk({ reasoning_content: 'Search first.' }),
        chunk({
          tool_calls: [{ index: 0, ...call, function: { ...call, arguments: '{"query":"dams"}' } }],
        }),
        chunk({}, 'tool_calls'),
        DONE,
      ),
      textReply('Beavers do.'),
    )
    await readChat(await ask())
    const messages = modelRequest(upstream.requests.at(-1)).messages
    expect(messages.findLast(({ role }) => role === 'assistant')).toMatchObject({
      reasoning_content: 'Search first.',
    })
  })

  it('is aborted as soon as the reader leaves', async () => {
    upstream.always(streamReply(chunk({ content: 'Beavers' }), { hang: true }))
    const controller = new AbortController()
    const request = upstream.nextRequest()
    const response = await ask({}, controller.signal)
    await response.body?.getReader().read()
    controller.abort()
    const { closed } = await request
    await closed
    expect(upstream.requests.at(-1)?.disconnected).toBe(true)
  })
})
