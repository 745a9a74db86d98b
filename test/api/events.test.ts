import { describe, expect, it } from 'vitest'
import { verifies } from '../requirements.ts'
import { ask } from '../support/chat-reader.ts'
import { readAllBlocks, readBlocks } from '../support/event-stream-reader.ts'
import { type ScriptedUpstream, startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer } from '../support/server.ts'
import { chunk, DONE, streamReply, textReply } from '../support/upstream-replies.ts'

const PARTS = ['Two\n\nlines, ', 'an emoji 🦉, ', '"quotes" and \\ ', '  spaces ', '[1].']

const upstream = await startScriptedUpstream()
const server = await startServer(modelAt(upstream))
await server.ingest({ title: 'Owls', text: 'Owls hoot at night.' })

const failing = streamReply(chunk({ content: 'Half an' }), { cut: true })
const whole = streamReply(...PARTS.map((content) => chunk({ content })), chunk({}, 'stop'), DONE)

async function blocksOf(reply: Parameters<ScriptedUpstream['script']>[0]) {
  upstream.script(reply)
  const messages = [{ role: 'user', content: 'Who hoots?' }]
  const response = await server.request('/chat', { body: { messages } })
  return (await readAllBlocks(response)).map(({ event, data }) => ({
    event,
    data: JSON.parse(data),
  }))
}

describe('The chat stream', () => {
  it(
    'sends each fragment as a text-delta named message, then one done named done',
    verifies(
      'events.data',
      'events.text-delta',
      'events.done',
      'events.name.message',
      'events.name.done',
      'events.done.after',
      'events.one-end',
      'chat.done.extras',
    ),
    async () => {
      const blocks = await blocksOf(whole)
      const deltas = blocks.slice(0, -1)
      expect(deltas.length).toBeGreaterThan(0)
      for (const delta of deltas) {
        expect(delta).toEqual({
          event: 'message',
          data: { type: 'text-delta', text: expect.stringMatching(/[\s\S]/) },
        })
      }
      expect(blocks.at(-1)).toEqual({
        event: 'done',
        data: {
          type: 'done',
          finishReason: 'stop',
          citations: [expect.objectContaining({ number: 1 })],
          hits: [
            {
              id: expect.any(String),
              score: expect.any(Number),
              text: 'Owls hoot at night.',
              title: 'Owls',
              documentId: expect.any(String),
              start: 0,
              end: 19,
            },
          ],
        },
      })
    },
  )

  it(
    'concatenates to the answer, whatever stands in it',
    verifies('events.concatenate'),
    async () => {
      upstream.script(whole)
      expect((await ask(server, 'Who hoots?')).answer).toBe(PARTS.join(''))
    },
  )

  it(
    'sends the first fragment while the model is still speaking',
    verifies('chat.streamed'),
    async () => {
      const { promise, resolve } = Promise.withResolvers<void>()
      upstream.script(
        streamReply(chunk({ content: 'Owls' }), { until: promise }, chunk({}, 'stop'), DONE),
      )
      const messages = [{ role: 'user', content: 'Who hoots?' }]
      const blocks = readBlocks(await server.request('/chat', { body: { messages } }))
      expect((await blocks.next()).value?.data).toBe('{"type":"text-delta","text":"Owls"}')
      resolve()
      expect((await Array.fromAsync(blocks)).map(({ event }) => event)).toEqual(['done'])
    },
  )

  it(
    'that fails ends with one error named error, which holds the envelope’s content',
    verifies(
      'events.error',
      'events.name.error',
      'events.error.last',
      'events.one-end',
      'upstream.frame',
    ),
    async () => {
      expect(await blocksOf(failing)).toEqual([
        { event: 'message', data: { type: 'text-delta', text: 'Half an' } },
        {
          event: 'error',
          data: {
            type: 'error',
            error: {
              message: expect.any(String),
              type: 'upstream_error',
              code: 'upstream_failed',
              param: null,
              request_id: expect.any(String),
            },
          },
        },
      ])
    },
  )

  it(
    'ends with exactly one of done and error, as the last block',
    verifies('events.one-end', 'events.error.last', 'events.done.after'),
    async () => {
      for (const reply of [
        whole,
        failing,
        textReply(''),
        textReply('x', { finishReason: 'length' }),
      ]) {
        const events = (await blocksOf(reply)).map(({ event }) => event)
        const ends = events.filter((event) => event !== 'message')
        expect(ends).toHaveLength(1)
        expect(events.at(-1)).toBe(ends[0])
      }
    },
  )

  it('numbers citations by the place in hits', verifies('chat.citations'), async () => {
    await server.ingest({ title: 'Bats', text: 'Bats click, and owls hoot.' })
    upstream.script((request) => {
      const numbers = [...JSON.stringify(request.body).matchAll(/\[(\d)\] (Owls|Bats)/g)]
      return streamReply(
        chunk({ content: numbers.map(([, number, title]) => `${title}=${number}`).join(' ') }),
        chunk({}, 'stop'),
        DONE,
      )
    })
    const { answer, done } = await ask(server, 'Who hoots, owls or bats?')
    expect(answer).toContain(
      done?.hits.map(({ title }, index) => `${title}=${index + 1}`).join(' '),
    )
    expect(done?.hits).toHaveLength(2)
  })

  it(
    'says in words that the model wrote nothing: an empty answer is never silent',
    verifies('events.done', 'events.concatenate'),
    async () => {
      const blocks = await blocksOf(streamReply(chunk({}, 'stop'), DONE))
      expect(blocks.map(({ event }) => event)).toEqual(['message', 'done'])
      expect(JSON.stringify(blocks[0])).toContain('The model gave no answer.')
    },
  )
})
