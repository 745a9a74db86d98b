import type { ChatFrame } from '@agent-server/schemas/chat.ts'
import type { Agent, AgentEvent } from '@agent-server/wire'
import { expect, it } from 'vitest'
import { AnswerRecord } from '../../src/conversations/answer-record.ts'
import { startAnswer } from '../../src/conversations/answer-run.ts'
import { NOTHING_MORE } from '../support/artifact.ts'

const { signal } = new AbortController()
const call = (callId: string): AgentEvent => ({
  type: 'tool-call',
  callId,
  tool: 'look',
  input: {},
})
const progress = (callId: string, done: number): AgentEvent => {
  return { type: 'tool-progress', callId, tool: 'look', progress: done }
}
const result = (callId: string): AgentEvent => {
  return { type: 'tool-result', callId, tool: 'look', output: 'seen', isError: false }
}
const END: AgentEvent = {
  type: 'run-end',
  reason: 'stop',
  hits: [],
  usage: undefined,
  ...NOTHING_MORE,
}

/** An answer by a fake agent that says what it is told to. */
function start() {
  const waiting: AgentEvent[][] = []
  let news = Promise.withResolvers<void>()
  const agent: Agent = {
    async *run() {
      for (;;) {
        const events = waiting.shift()
        if (events) yield events
        else await news.promise
        if (events?.some(({ type }) => type === 'run-end')) return
      }
    },
  }
  const say = (...events: AgentEvent[]) => {
    waiting.push(events)
    news.resolve()
    news = Promise.withResolvers()
  }
  const run = startAnswer({
    agent,
    store: { write: async () => true, end: async () => true },
    ref: { id: 'conv_1', item: 'msg_1', owner: 'key' },
    record: new AnswerRecord(),
    request: {
      messages: [],
      instructions: [],
      topK: 0,
      rewrite: false,
      sampling: {},
      clientTools: [],
    },
    failures: {
      report: (error) => {
        throw error
      },
      log: { error: (details) => expect(details).toBe('never') },
    },
  })
  const follow = () => run.follow({ includeSteps: true }, signal)
  return { say, follow, ended: run.ended }
}

const short = (frame: ChatFrame) =>
  [
    frame.type,
    'callId' in frame ? frame.callId : '',
    'progress' in frame ? frame.progress : '',
  ].join(' ')

it('Of how far calls are, whoever comes later is told the newest alone, and nothing once they end', async () => {
  const { say, follow, ended } = start()
  const next = async (frames: AsyncGenerator<ChatFrame[]>) =>
    (await frames.next()).value?.map(short)
  const live = follow()
  const first = next(live)
  say(call('a'), call('b'))
  expect(await first).toEqual(['tool-call a ', 'tool-call b '])
  for (const done of [1, 2, 3]) {
    const told = next(live)
    say(progress('a', done), progress('b', done * 10))
    expect(await told).toEqual([`tool-progress a ${done}`, `tool-progress b ${done * 10}`])
  }
  expect(await next(follow())).toEqual([
    'tool-call a ',
    'tool-call b ',
    'tool-progress a 3',
    'tool-progress b 30',
  ])

  const told = next(live)
  say(result('a'))
  expect(await told).toEqual(['tool-result a '])
  expect(await next(follow())).toEqual([
    'tool-call a ',
    'tool-call b ',
    'tool-progress b 30',
    'tool-result a ',
  ])

  say(result('b'), END)
  await ended
  const frames = (await Array.fromAsync(follow())).flat()
  expect(frames.map(({ type }) => type)).toEqual([
    'tool-call',
    'tool-call',
    'tool-result',
    'tool-result',
    'done',
  ])
})
