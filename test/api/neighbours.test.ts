import { QueryResponse } from '@agent-server/schemas/query.ts'
import { expect, it } from 'vitest'
import { renderChunks } from '../../src/agent/citations/citations.ts'
import { verifies } from '../requirements.ts'
import { readChat } from '../support/chat-reader.ts'
import { modelRequest } from '../support/model-request.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer } from '../support/server.ts'
import { textReply } from '../support/upstream-replies.ts'

const TIMES = ['dawn', 'noon', 'dusk', 'midnight']
/** Three chunks or so, all about one thing. */
const TEXT = Array.from(
  { length: 60 },
  (_, i) =>
    `The lighthouse keeper wrote at ${TIMES[i % 4]} that the lamp of the lighthouse had burned ${i} hours.`,
).join(' ')

it(
  'neighbouring chunks of a document are one passage and one hit in chat, and single ones in /query',
  verifies('chat.neighbours'),
  async () => {
    const upstream = await startScriptedUpstream()
    upstream.always(textReply('It burned [1].'))
    const server = await startServer(modelAt(upstream))
    await server.ingest({ title: 'Log', text: TEXT })
    const query = 'lighthouse keeper lamp'

    const found = await server.request('/query', { body: { query, topK: 3 } })
    const { hits: single } = QueryResponse.parse(await found.json())
    expect(single.length).toBeGreaterThan(1)
    for (const hit of single) expect(hit).not.toHaveProperty('chunkIds')

    const body = { messages: [{ role: 'user', content: query }], topK: 3 }
    const { done } = await readChat(await server.request('/chat', { body }))
    const [joined] = done?.hits ?? []
    expect(done?.hits).toHaveLength(1)
    expect(joined?.chunkIds?.toSorted()).toEqual(single.map(({ id }) => id).toSorted())
    expect(joined?.id).toBe(single[0]?.id)
    expect(joined?.text.replaceAll('\n', ' ')).toBe(TEXT.slice(joined?.start, joined?.end))

    const request = upstream.requests.at(-1)
    const prompt = request && modelRequest(request).messages.at(-1)?.content
    expect(prompt).toContain(
      renderChunks(joined ? [{ number: 1, hit: joined }] : [], 'key').replace('key ', ''),
    )
  },
)
