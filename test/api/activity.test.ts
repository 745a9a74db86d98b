import { ActivityEvent } from '@agent-server/schemas/operator/ops.ts'
import { describe, expect, it } from 'vitest'
import { readAllBlocks, readBlocks } from '../support/event-stream-reader.ts'
import { onlyLong } from '../support/long.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { MODEL_KEY, modelAt, TEST_KEY } from '../support/server.ts'
import { startServerProcess } from '../support/server-process.ts'
import { chunk, streamReply, textReply, toolCallReply } from '../support/upstream-replies.ts'

const QUESTION = 'Who hoots in the old barn?'

const upstream = await startScriptedUpstream()
const server = await startServerProcess(modelAt(upstream))

/** Those after one that an earlier test has seen. */
const events = (after = 0) => server.request(`/admin/events?follow=false&after=${after}`)
const latest = async () => (await eventsOf(await events())).at(-1)?.id ?? 0

describe('GET /admin/events', () => {
  it('tells of requests and of runs with outcome, time, tokens and tools, and of no secret', async () => {
    const before = await latest()
    await server.ingest({ title: 'Owls', text: 'Owls hoot.' })
    upstream.script(
      toolCallReply({ name: 'semantic_search', arguments: { query: 'owls' } }),
      textReply('Owls [1].'),
    )
    const messages = [{ role: 'user', content: QUESTION }]
    await (await server.request('/chat', { body: { messages } })).text()
    await expect
      .poll(async () => (await eventsOf(await events(before))).map(({ type }) => type))
      .toContain('run')

    const answer = await events(before)
    const text = await answer.clone().text()
    for (const secret of [TEST_KEY, MODEL_KEY, QUESTION]) expect(text).not.toContain(secret)
    const seen = await eventsOf(answer)
    expect(seen.find(({ type }) => type === 'run')).toMatchObject({
      outcome: 'stop',
      milliseconds: expect.any(Number),
      firstDelta: expect.any(Number),
      promptTokens: 22,
      completionTokens: 14,
      tools: { semantic_search: 1 },
      runId: expect.stringMatching(/^run_/),
    })
    expect(seen).toContainEqual(
      expect.objectContaining({ type: 'request', operation: 'chat', path: '/chat', status: 200 }),
    )
  })

  it('tells of an answer that broke off as of a failed request', async () => {
    const before = await latest()
    upstream.always(streamReply(chunk({ content: 'Half ' }), { cut: true }))
    const messages = [{ role: 'user', content: QUESTION }]
    const stored = await server.request('/v1/conversations', { body: {} })
    const conversation = Object(await stored.json())
    for (const body of [{ messages }, { messages, conversation: { id: conversation.id } }]) {
      const response = await server.request('/chat', { body })
      expect(response.status).toBe(200)
      await response.text()
    }
    const isChat = (event: ActivityEvent) => event.type === 'request' && event.operation === 'chat'
    const statuses = async () => {
      return (await eventsOf(await events(before)))
        .filter(isChat)
        .map((event) => 'status' in event && event.status)
    }
    await expect.poll(statuses).toEqual([502, 502])
  })

  it('follows what happens, and does not hold back a stop', onlyLong, async () => {
    const patient = await startServerProcess({ SHUTDOWN_GRACE: '60' })
    const seen: ActivityEvent[] = []
    const following = (async () => {
      for await (const { data } of readBlocks(await patient.request('/admin/events'))) {
        const frame = JSON.parse(data)
        if (frame.type === 'error') return frame.error.code
        seen.push(ActivityEvent.parse(frame))
      }
    })()
    await expect.poll(() => seen.length).toBeGreaterThan(0)
    await patient.request('/query', { body: { query: 'owls' } })
    await expect
      .poll(() => seen.map((event) => 'operation' in event && event.operation))
      .toContain('query')
    const started = performance.now()
    expect((await patient.stop()).code).toBe(0)
    expect(performance.now() - started).toBeLessThan(20_000)
    expect(await following).toBe('shutting_down')
  })
})

async function eventsOf(response: Response): Promise<ActivityEvent[]> {
  return (await readAllBlocks(response)).map(({ data }) => ActivityEvent.parse(JSON.parse(data)))
}
