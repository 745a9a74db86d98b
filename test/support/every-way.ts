import type { DoneFrame } from '@agent-server/schemas/chat.ts'
import { Completion } from '../../src/dialects/completions/answer-schema.ts'
import { type ReadChat, readChat, readCompletion } from './chat-reader.ts'
import type { Script, ScriptedUpstream } from './scripted-upstream.ts'
import type { TestServer } from './server.ts'

/** What a run tells at its end, in whichever dialect it was asked for. */
export interface Answered {
  answer: string
  extras: Omit<DoneFrame, 'type' | 'usage'>
}

/** The ways to ask the one agent; `/agent/chat` is `/chat` by another name. */
export const WAYS = ['/chat', '/v1 streamed', '/v1 plain'] as const

/** Asks in one way; the model plays `scripts` in turn. */
export async function askBy(
  way: (typeof WAYS)[number],
  { server, upstream }: { server: TestServer; upstream: ScriptedUpstream },
  scripts: readonly Script[],
  more: object = {},
): Promise<Answered> {
  upstream.script(...scripts)
  const messages = [{ role: 'user', content: 'What is there?' }]
  const post = (path: string, body: object) =>
    server.request(path, { body: { messages, ...more, ...body } })
  if (way === '/v1 plain') {
    const body = await (await post('/v1/chat/completions', { stream: false })).json()
    const { choices, agent } = Completion.parse(body)
    return { answer: choices[0]?.message.content ?? '', extras: agent }
  }
  if (way === '/v1 streamed') {
    const { answer, chunks } = await readCompletion(await post('/v1/chat/completions', {}))
    const extras = chunks.findLast(({ agent }) => agent)?.agent
    if (!extras) throw new Error('No chunk tells of the run')
    return { answer, extras }
  }
  const { answer, done, error }: ReadChat = await readChat(await post(way, {}))
  if (!done) throw new Error(`The chat did not end well: ${error?.message}`)
  const { type: _type, usage: _usage, ...extras } = done
  return { answer, extras }
}
