import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { readChat } from '../../support/chat-reader.ts'
import { onlyLong } from '../../support/long.ts'
import { NO_TOOLS } from '../../support/model/agents.ts'
import { HANDBOOK, ingestHandbook } from '../../support/model/handbook.ts'
import { type RecordedRequest, startScriptedUpstream } from '../../support/scripted-upstream.ts'
import { modelAt, startServer } from '../../support/server.ts'
import { writeAgentFile } from '../../support/temporary-files.ts'
import { textReply, toolCallReply } from '../../support/upstream-replies.ts'

/** Of the bytes of a turn's prompt, those with which the next turn's begins, past the window. */
const SHARE = 0.8

const Sent = z.object({ messages: z.array(z.unknown()), tools: z.array(z.unknown()).optional() })

/** What a provider reads, in its order. */
function promptOf(request: RecordedRequest | undefined): string {
  const { messages, tools = [] } = Sent.parse(request?.body)
  return [...tools, ...messages].map((part) => JSON.stringify(part)).join('\n')
}

function commonPrefix(one: string, other: string): number {
  let length = 0
  while (length < one.length && one[length] === other[length]) length += 1
  return length
}

async function start(agent: object, environment: Record<string, string> = {}) {
  const upstream = await startScriptedUpstream()
  const AGENT_CONFIG = await writeAgentFile(agent)
  const server = await startServer(modelAt(upstream, { AGENT_CONFIG, ...environment }))
  await ingestHandbook(server)
  return { upstream, server }
}

const QUESTIONS = HANDBOOK.questions.map(({ question }) => question)

/** Asks so many questions in one conversation; returns the prompt of each turn's first request. */
async function converse({ upstream, server }: Awaited<ReturnType<typeof start>>, turns: number) {
  const messages: { role: string; content: string }[] = []
  const prompts: string[] = []
  for (const question of QUESTIONS.slice(0, turns)) {
    messages.push({ role: 'user', content: question })
    const before = upstream.requests.length
    const response = await server.request('/chat', { body: { messages, topK: 3 } })
    const { answer } = await readChat(response)
    messages.push({ role: 'assistant', content: answer })
    prompts.push(promptOf(upstream.requests[before]))
  }
  return prompts
}

/** Of each turn's prompt, the share with which the next turn's begins. */
const sharesOf = (prompts: readonly string[]) =>
  prompts.slice(1).map((prompt, turn) => {
    const before = prompts[turn] ?? ''
    return commonPrefix(before, prompt) / before.length
  })

describe.each([
  ['without tools', NO_TOOLS],
  ['with every tool', {}],
])('A conversation %s', (_with, agent) => {
  it('begins each turn with the previous prompt', async () => {
    const started = await start(agent)
    started.upstream.always(textReply('So it says [1]. And so [2].'))
    expect(sharesOf(await converse(started, 6))).toEqual([1, 1, 1, 1, 1])
  })
})

it('A conversation in which tools are called begins each turn with the question before and its passages', async () => {
  const started = await start({})
  for (const query of QUESTIONS.slice(20, 24)) {
    started.upstream.script(
      toolCallReply({ name: 'semantic_search', arguments: { query } }, { text: 'Let me look.' }),
      textReply('So it says [1]. And so [4].'),
    )
  }
  expect(sharesOf(await converse(started, 4))).toEqual([1, 1, 1])
})

it('A conversation past the window begins most turns as the turn before', onlyLong, async () => {
  const started = await start({}, { CHAT_CONTEXT_TOKENS: '8192' })
  started.upstream.always(textReply('So it says [1]. And so [2]. '.repeat(30)))
  const shares = sharesOf(await converse(started, 40))
  const past = shares.slice(-20)
  expect(past.reduce((sum, share) => sum + share, 0) / past.length).toBeGreaterThanOrEqual(SHARE)
})
