import { describe, expect, it } from 'vitest'
import { verifies } from '../requirements.ts'
import { readChat, readCompletion } from '../support/chat-reader.ts'
import { WAYS } from '../support/every-way.ts'
import { failureOf } from '../support/failure.ts'
import { modelRequest } from '../support/model-request.ts'
import { type Script, startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer } from '../support/server.ts'
import {
  chunk,
  errorReply,
  streamReply,
  textReply,
  toolCallReply,
} from '../support/upstream-replies.ts'

const SEARCH = toolCallReply({ name: 'semantic_search', arguments: { query: 'owls' } })
const messages = [{ role: 'user', content: 'Who hoots?' }]

const upstream = await startScriptedUpstream()
const server = await startServer(modelAt(upstream))
await server.ingest({ title: 'Owls', text: 'Owls hoot at night.' })

/** What reaches the caller of a run that fails: its code, how it ended, and the text until then. */
async function failureBy(way: (typeof WAYS)[number], scripts: readonly Script[]) {
  upstream.script(...scripts)
  if (way === '/v1 plain') {
    const body = { messages, stream: false }
    return notBegun(await server.request('/v1/chat/completions', { body }))
  }
  if (way === '/v1 streamed') {
    const response = await server.request('/v1/chat/completions', { body: { messages } })
    if (response.status !== 200) return notBegun(response)
    const { error, answer, finishReason, ended } = await readCompletion(response)
    expect(finishReason).toBeUndefined()
    return { code: error?.code, status: response.status, answer, ended }
  }
  const response = await server.request(way, { body: { messages } })
  if (response.status !== 200) return notBegun(response)
  const { error, answer, done, frames } = await readChat(response)
  expect(done).toBeUndefined()
  const ended = frames.at(-1)?.frame.type === 'error'
  return { code: error?.code, status: response.status, answer, ended }
}

/** A stream that fails before its first word is answered as any failure is. */
async function notBegun(response: Response) {
  const { code, status } = await failureOf(response)
  return { code, status, answer: '', ended: true }
}

describe.each(WAYS)('A model that dies after a round of tools, asked by %s', (way) => {
  const isPlain = way === '/v1 plain'

  it(
    'within a sentence ends the run with an error, and no answer passes for whole',
    verifies('events.one-end', 'completions.error', 'loop.dies'),
    async () => {
      const cut = streamReply(chunk({ content: 'Owls ' }), chunk({ content: 'hoot [9' }), {
        cut: true,
      })
      expect(await failureBy(way, [SEARCH, cut])).toEqual({
        code: 'upstream_failed',
        ended: true,
        ...(isPlain ? { status: 502, answer: '' } : { status: 200, answer: 'Owls hoot [9' }),
      })
    },
  )

  it('within a call of a tool runs no half of it', verifies('loop.dies'), async () => {
    const half = streamReply(
      chunk({
        tool_calls: [
          { index: 0, id: 'a', function: { name: 'semantic_search', arguments: '{"qu' } },
        ],
      }),
      { cut: true },
    )
    // Asked again, since nothing was said yet.
    upstream.always(half)
    expect(await failureBy(way, [SEARCH])).toMatchObject({ code: 'upstream_failed', ended: true })
    const { messages: sent } = modelRequest(upstream.requests.at(-1))
    expect(sent.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool'])
  })

  it('with a refusal ends the run with its error', verifies('loop.dies'), async () => {
    const refusal = errorReply(400, 'context length exceeded')
    const { code, ended } = await failureBy(way, [SEARCH, refusal])
    expect({ code, ended }).toEqual({ code: expect.stringMatching(/^upstream_/), ended: true })
  })

  it('leaves the server to answer the next question', verifies('loop.dies'), async () => {
    await failureBy(way, [SEARCH, streamReply(chunk({ content: 'Owls ' }), { cut: true })])
    upstream.script(textReply('At night [1].'))
    const { answer } = await readChat(await server.request('/chat', { body: { messages } }))
    expect(answer).toBe('At night [1].')
  })
})
