import { once } from 'node:events'
import { request } from 'node:http'
import { describe, expect, it } from 'vitest'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer, TEST_KEY } from '../support/server.ts'
import { chunk, DONE, streamReply } from '../support/upstream-replies.ts'

const upstream = await startScriptedUpstream()
const server = await startServer(modelAt(upstream))

/** How many words the model writes in one piece: more would not fit into one packet of the network. */
const WORDS = 60
const wordsFrom = (first: number) =>
  Array.from({ length: WORDS }, (_, at) => chunk({ content: `w${first + at} ` }).send).join('')

/** The chunks of an answer, of which each is one write of the server; calls `onChunk` with the words in each. */
async function writesOf(path: string, body: object, onChunk: (words: string[]) => void) {
  const headers = { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' }
  const sent = request(server.url + path, { method: 'POST', headers }).end(JSON.stringify(body))
  const [response] = await once(sent, 'response')
  response.on('data', (bytes: Buffer) => onChunk(bytes.toString().match(/\bw\d+/g) ?? []))
  await once(response, 'end')
}

const messages = [{ role: 'user', content: 'Count.' }]

describe('What a model writes in one piece leaves in one write', () => {
  it.each([
    ['/chat', { messages }],
    ['/v1/chat/completions', { model: 'agent', stream: true, messages }],
    ['/v1/responses', { model: 'agent', stream: true, input: 'Count.' }],
    ['/v1/messages', { model: 'agent', stream: true, max_tokens: 1_000, messages }],
    ['/api/chat', { model: 'agent', messages }],
  ])('at %s', async (path, body) => {
    const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    upstream.script(
      streamReply(
        { send: wordsFrom(1) },
        { until: first.promise },
        { send: wordsFrom(1 + WORDS) },
        { until: second.promise },
        chunk({}, 'stop'),
        DONE,
      ),
    )
    const writes: string[][] = []
    await writesOf(path, body, (words) => {
      if (words.length === 0) return
      // The end of an answer may repeat all of it.
      if (writes.length < 2) writes.push(words)
      ;[first, second][writes.length - 1]?.resolve()
    })
    expect(writes.map((words) => words.length)).toEqual([WORDS, WORDS])
  })
})
