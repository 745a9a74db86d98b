import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { ask } from '../support/chat-reader.ts'
import { settled, startWith } from '../support/mcp-connections.ts'
import { startPlainMcp } from '../support/plain-mcp.ts'
import type { RecordedRequest } from '../support/scripted-upstream.ts'
import { errorReply, textReply, toolCallReply } from '../support/upstream-replies.ts'

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const image = (data: string, mimeType = 'image/png') => ({ type: 'image', data, mimeType })
const LARGE = Buffer.concat([Buffer.from(PNG, 'base64'), Buffer.alloc(2_100_000)])
const RESULTS: Record<string, object[]> = {
  picture: [{ type: 'text', text: 'A dot' }, image(PNG)],
  within: [
    { type: 'resource', resource: { uri: 'file:///dot.png', mimeType: 'image/png', blob: PNG } },
  ],
  large: [image(LARGE.toString('base64'))],
  other: [image(Buffer.from('<svg/>').toString('base64'))],
  drawing: [image(Buffer.from('<svg/>').toString('base64'), 'image/svg+xml')],
  many: Array.from({ length: 6 }, () => image(PNG)),
}
const plain = await startPlainMcp({
  tools: Object.keys(RESULTS).map((name) => ({ name, inputSchema: { type: 'object' } })),
  call: (name) => ({ content: RESULTS[name] ?? [] }),
})

const Body = z.object({
  messages: z.array(z.looseObject({ role: z.string(), content: z.unknown() })),
})

/** The pictures in each message of a request, and what the last tool answered. */
function seenIn(request: RecordedRequest | undefined) {
  const { messages } = Body.parse(request?.body)
  const pictures = messages.map(
    ({ content }) => JSON.stringify(content ?? '').match(/data:image\/png;base64/g)?.length ?? 0,
  )
  const output = messages.findLast(({ role }) => role === 'tool')?.content
  return { pictures: pictures.filter((count) => count > 0), output: String(output), messages }
}

async function start() {
  const { server, upstream } = await startWith({ pics: { url: plain.url } })
  const call = async (...names: string[]) => {
    await settled(server, 'pics', 'on')
    upstream.script(
      ...names.map((name) => toolCallReply({ name: `mcp__pics__${name}`, arguments: {} })),
      textReply('Seen.'),
    )
    return ask(server, 'What is on the picture?', { includeSteps: true })
  }
  return { server, upstream, call }
}

const { upstream, call } = await start()

describe('an image that a tool of an MCP server returns', () => {
  it.each(['picture', 'within'])('is shown to the model: %s', async (name) => {
    const { frames } = await call(name)
    const { pictures, output, messages } = seenIn(upstream.requests.at(-1))
    expect(pictures).toEqual([1])
    expect(messages.at(-1)).toMatchObject({ role: 'user' })
    expect(output).toMatch(/\[file "[\w.]+", image\/png, \d+ bytes: \/artifacts\//)
    const shown = frames.map(({ frame }) => frame).find(({ type }) => type === 'tool-result')
    expect(shown).toMatchObject({ output: expect.stringContaining('image/png') })
  })

  it.each([
    ['too large', 'large', 'image/png, 2100070 bytes'],
    ['not what it says', 'other', 'image/png, 6 bytes'],
    ['of a kind that models do not read', 'drawing', 'image/svg+xml, 6 bytes'],
  ])('is named with its type and size instead if it is %s', async (_case, name, note) => {
    await call(name)
    const { pictures, output } = seenIn(upstream.requests.at(-1))
    expect(pictures).toEqual([])
    expect(output).toContain(note)
  })

  it('is one of the four newest of an answer', async () => {
    await call('picture', 'within', 'many')
    expect(seenIn(upstream.requests.at(-2)).pictures).toEqual([1, 1])
    const { pictures, messages } = seenIn(upstream.requests.at(-1))
    expect(pictures).toEqual([4])
    expect(JSON.stringify(messages)).toContain('not shown any more')
  })

  it('does not keep a model from answering that takes none', async () => {
    const { server, upstream, call } = await start()
    await settled(server, 'pics', 'on')
    upstream.script(
      toolCallReply({ name: 'mcp__pics__picture', arguments: {} }),
      errorReply(400, 'This model does not support image input'),
      textReply('I cannot see.'),
    )
    const { frames } = await ask(server, 'What is on the picture?')
    expect(JSON.stringify(frames)).toContain('cannot')
    expect(seenIn(upstream.requests.at(-1)).pictures).toEqual([])
    await call('picture')
    expect(seenIn(upstream.requests.at(-1)).pictures).toEqual([])
  })
})
