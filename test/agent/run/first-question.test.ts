import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { EXAMPLE, RULES, TOOL_RULES } from '../../../src/agent/run/prompt.ts'
import { ask } from '../../support/chat-reader.ts'
import { countTokens } from '../../support/count-tokens.ts'
import { HANDBOOK } from '../../support/model/handbook.ts'
import { startScriptedUpstream } from '../../support/scripted-upstream.ts'
import { modelAt, startServer } from '../../support/server.ts'
import { writeAgentFile } from '../../support/temporary-files.ts'
import { textReply } from '../../support/upstream-replies.ts'

/** Tokens of a first question with every tool, the shipped skills and three long passages. */
const MOST = 2_500
/** Characters: of the chunks of this server's documentation, nine of ten are shorter. */
const PASSAGE = 1_400
/** What a chat format puts around each message. */
const AROUND_MESSAGE = 4
const QUESTION = 'How many days of annual leave do full-time staff have?'

const Sent = z.object({
  messages: z.array(z.object({ role: z.string(), content: z.string() })),
  tools: z.array(z.looseObject({ function: z.looseObject({ name: z.string() }) })),
})

/** Documents of one long passage each. */
function longPassages() {
  const texts = Object.values(HANDBOOK.passages).map(({ text }) => text)
  return [0, 1, 2].map((part) => {
    const text = texts.filter((_text, index) => index % 3 === part).join(' ')
    return {
      title: `Staff handbook, part ${part + 1}`,
      text: text.slice(0, text.lastIndexOf('. ', PASSAGE) + 1),
    }
  })
}

/** The tokens of each part of what the model was sent. */
function tokensByPart(body: unknown, passages: readonly string[]) {
  const { messages, tools } = Sent.parse(body)
  const [system = '', ...others] = messages.map(({ content }) => content)
  const example = EXAMPLE.map(({ content }) => content)
  const sum = (texts: readonly string[]) => texts.reduce((all, text) => all + countTokens(text), 0)
  const skills = system.slice(system.indexOf('Skills are'))
  const parts = {
    rules: sum([RULES, TOOL_RULES]),
    skills: countTokens(skills),
    example: sum(example),
    'text of the passages': sum(passages),
    'around the passages': countTokens(others.at(-1) ?? '') - sum([...passages, QUESTION]),
    question: countTokens(QUESTION),
    'around the messages': messages.length * AROUND_MESSAGE,
    ...Object.fromEntries(
      tools.map((tool) => [tool.function.name, countTokens(JSON.stringify(tool))]),
    ),
  }
  expect(others.slice(0, -1)).toEqual(example)
  expect(system).toBe(`${RULES}\n\n${TOOL_RULES}\n\n${skills}`)
  for (const passage of passages) expect(others.at(-1)).toContain(passage)
  return {
    parts,
    tools: countTokens(JSON.stringify(tools)),
    all: Object.values(parts).reduce((all, tokens) => all + tokens, 0),
  }
}

it(`A first question with all tools, skills and three long passages takes at most ${MOST} tokens`, async ({
  annotate,
}) => {
  const upstream = await startScriptedUpstream()
  upstream.always(textReply('27 days [1].'))
  const skills = { sources: [fileURLToPath(new URL('../../../skills', import.meta.url))] }
  const AGENT_CONFIG = await writeAgentFile({ skills })
  const server = await startServer(modelAt(upstream, { AGENT_CONFIG }))
  const documents = longPassages()
  for (const document of documents) await server.ingest(document)
  await ask(server, QUESTION, { topK: 3 })

  const passages = documents.map(({ text }) => text)
  const { parts, tools, all } = tokensByPart(upstream.requests[0]?.body, passages)
  const table = Object.entries(parts).map(([part, tokens]) => `${part}: ${tokens}`)
  await annotate([...table, `all tools: ${tools}`, `all: ${all}`].join('\n'))
  expect(parts['text of the passages']).toBeGreaterThan(900)
  expect.soft(tools).toBeLessThanOrEqual(1_200)
  expect(all).toBeLessThanOrEqual(MOST)
})
