import { describe, expect, it } from 'vitest'
import { ask, complete } from '../support/chat-reader.ts'
import { search } from '../support/knowledge.ts'
import { onlyLong } from '../support/long.ts'
import { type RecordedRequest, startScriptedUpstream } from '../support/scripted-upstream.ts'
import { MODEL_KEY, modelAt, TEST_KEY } from '../support/server.ts'
import { startServerProcess } from '../support/server-process.ts'
import {
  chunk,
  errorReply,
  streamReply,
  textReply,
  toolCallReply,
} from '../support/upstream-replies.ts'

/** Words that stand for what nobody but its owner may read. */
const PRIVATE = {
  text: 'heronplumage',
  title: 'otterholt',
  address: 'badgerdell',
  query: 'weaselthorpe',
  question: 'stoatbridge',
  answer: 'lynxhaven',
  input: 'martenfield',
  wrongKey: 'a-wrong-key-polecatton',
  cookie: 'ferretmoor',
  setting: 'beaverbrook',
}

describe('A server', () => {
  it('writes nothing to standard error, and little to standard output', async () => {
    const server = await startServerProcess({ NODE_OPTIONS: '--pending-deprecation' })
    await server.ingest({ text: 'The lighthouse was lit in 1811.' })
    await ask(server, 'When was the lighthouse lit?')
    for (const path of ['/health', '/readiness', '/metrics', '/reference', '/openapi.json']) {
      expect((await server.request(path)).status).toBe(200)
    }
    expect(await server.stop()).toEqual({ code: 0, signal: null })
    expect(server.stderr).toBe('')
    const lines = server.log()
    expect(server.stdout.trimEnd().split('\n')).toHaveLength(lines.length)
    expect(lines.filter(({ level }) => level > 30)).toEqual([])
    const messages = lines.map(({ msg }) => msg).filter((message) => message !== 'getDocument')
    expect(messages).toEqual([
      'using the default agent',
      'document store opened',
      expect.stringMatching(
        /^listening at http.*, base URL for OpenAI clients http\S+\/openai\/v1$/,
      ),
      'audit: createDocument',
      'createDocument',
      'run',
      'chat',
      'SIGTERM: shutting down; a second signal ends the process immediately',
      'closed',
    ])
  })

  it(
    'warns of a configured agent file that does not exist, which a save creates',
    onlyLong,
    async () => {
      const server = await startServerProcess({ AGENT_CONFIG: './desk.json' })
      const warned = server.log().filter(({ level }) => level === 40)
      expect(warned).toMatchObject([
        {
          file: './desk.json',
          msg: expect.stringMatching(/^AGENT_CONFIG names a file that does not/),
        },
      ])
      const { digest } = Object(await (await server.request('/admin/agent')).json())
      const body = { text: '{"name":"desk"}', basedOn: digest }
      expect((await server.request('/admin/agent', { method: 'PUT', body })).status).toBe(200)
      await server.stop()
      const again = await startServerProcess({ AGENT_CONFIG: './desk.json' }, server)
      expect(again.log().filter(({ level }) => level === 40)).toEqual([])
    },
  )

  it(
    'writes no key and nothing of documents, questions and answers into its log',
    onlyLong,
    async () => {
      const upstream = await startScriptedUpstream()
      const mistyped = { SEARCH_LANGUAG: PRIVATE.setting }
      const server = await startServerProcess(
        modelAt(upstream, { LOG_LEVEL: 'trace', ...mistyped }),
      )
      const url = `https://example.org/${PRIVATE.address}?token=${PRIVATE.address}`
      await server.ingest({ text: `The ${PRIVATE.text} was lit.`, title: PRIVATE.title, url })
      await search(server, `${PRIVATE.query} ${PRIVATE.text}`)

      const echo = ({ headers }: RecordedRequest) =>
        errorReply(401, `Bad: ${headers.authorization}`)
      upstream.script(
        textReply(PRIVATE.answer),
        toolCallReply({ name: 'semantic_search', arguments: { query: PRIVATE.input } }),
        textReply(PRIVATE.answer),
        toolCallReply({ name: 'semantic_search', arguments: `{"query": "${PRIVATE.input}` }),
        textReply(PRIVATE.answer),
        echo,
        errorReply(400, 'No such parameter'),
        streamReply(chunk({ content: PRIVATE.answer }), { cut: true }),
      )
      await complete(server, PRIVATE.question)
      const messages = [{ role: 'user', content: PRIVATE.question }]
      for (let run = 0; run < 5; run += 1) {
        await (await server.request('/chat', { body: { messages } })).text()
      }
      expect(upstream.requests).toHaveLength(8)

      const headers = { authorization: `Bearer ${PRIVATE.wrongKey}`, cookie: PRIVATE.cookie }
      await server.request(`/documents?cursor=${PRIVATE.query}&key=${TEST_KEY}`, { headers })
      await server.request(`/documents?cursor=${PRIVATE.query}&key=${TEST_KEY}`)
      await server.request('/documents', { body: `{"text": "${PRIVATE.text}` })
      await server.request('/query', { body: { query: PRIVATE.query, topK: PRIVATE.query } })
      await server.request('/chat', { body: { messages: [{ role: PRIVATE.question }] } })
      await server.stop()

      const said = server.stdout + server.stderr
      expect(server.log().length).toBeGreaterThan(15)
      expect(said).toContain('SEARCH_LANGUAG is not a setting: did you mean SEARCH_LANGUAGE?')
      const words = [...Object.values(PRIVATE), TEST_KEY, MODEL_KEY]
      expect(words.filter((word) => said.includes(word))).toEqual([])
    },
  )
})
