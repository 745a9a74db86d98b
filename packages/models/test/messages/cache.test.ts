import { expect, it } from 'vitest'
import { answerReply } from '../../../../test/support/messages-replies.ts'
import { startScriptedUpstream } from '../../../../test/support/scripted-upstream.ts'
import { modelAt, startServer } from '../../../../test/support/server.ts'

const upstream = await startScriptedUpstream()
const server = await startServer(modelAt(upstream, { CHAT_API: 'messages' }))

/** The parts of a prompt in the order in which they are cached, and whether each has a mark. */
function partsOf(body: unknown): { text: string; isMarked: boolean }[] {
  const { tools = [], system, messages } = Object(body)
  const said = messages.flatMap(({ role, content }: { role: string; content: unknown }) =>
    [content]
      .flat()
      .map((part) => ({ role, part: typeof part === 'string' ? toText(part) : part })),
  )
  return [...tools, ...system, ...said].map((part) => {
    const text = JSON.stringify(part)
    const isMarked = text.includes('"cache_control"')
    return { text: text.replace(/,"cache_control":\{[^}]*\}/, ''), isMarked }
  })
}

const toText = (text: string) => ({ type: 'text', text })

it('All of the prompt of a question is the marked beginning of that of the next one', async () => {
  await server.ingest({
    title: 'Hours',
    text: 'The library opens at nine every morning. '.repeat(60),
  })
  upstream.always(answerReply('It opens at nine [1].'))
  const messages = [{ role: 'user', content: 'When does the library open?' }]
  await (await server.request('/chat', { body: { messages } })).text()
  const said = { role: 'assistant', content: 'It opens at nine [1].' }
  const second = [
    ...messages,
    said,
    { role: 'user', content: 'And on Sundays, does it open at all?' },
  ]
  await (await server.request('/chat', { body: { messages: second } })).text()

  const [before, after] = [upstream.requests[0], upstream.requests.at(-1)].map((request) =>
    partsOf(request?.body),
  )
  expect(before?.at(-1)?.isMarked).toBe(true)
  const textOf = ({ text }: { text: string }) => text
  expect(after?.slice(0, before?.length).map(textOf)).toEqual(before?.map(textOf))
  expect(after?.filter(({ isMarked }) => isMarked).length).toBe(4)
})
