import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { verifies } from '../requirements.ts'
import { ask, readChat } from '../support/chat-reader.ts'
import { askBy, WAYS } from '../support/every-way.ts'
import { modelRequest } from '../support/model-request.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer } from '../support/server.ts'
import { writeAgentFile } from '../support/temporary-files.ts'
import { textReply, toolCallReply } from '../support/upstream-replies.ts'

const PLUGIN = `export default ({ defineTool, z }) => Array.from({ length: COUNT }, (_, n) =>
  defineTool({
    name: 'paint' + n, title: 'Paint', description: n === 7 ? 'Paints a zebra' : 'Paints',
    input: z.object({ colour: z.string() }),
    run: async ({ colour }, { conversation }) => 'painted ' + n + ' ' + colour + ' for ' + conversation,
  }))`

async function start(count: number, more: string[] = []) {
  const upstream = await startScriptedUpstream()
  const file = await writeAgentFile({ plugins: ['./plugins/brush.mjs', ...more] })
  const folder = join(dirname(file), 'plugins')
  await mkdir(folder)
  await writeFile(join(folder, 'brush.mjs'), PLUGIN.replace('COUNT', String(count)))
  const server = await startServer(modelAt(upstream, { AGENT_CONFIG: file }))
  return { upstream, server, file }
}

const one = await start(1)

describe.each(WAYS)('A plugin, asked by %s', (way) => {
  it('runs its tool, and knows the conversation', verifies('plugins.tools'), async () => {
    const call = { name: 'brush__paint0', arguments: { colour: 'red' } }
    const scripts = [toolCallReply(call), textReply('Done.')]
    await askBy(way, one, scripts, { conversationId: 'desk-7' })
    const { messages } = modelRequest(one.upstream.requests.at(-1))
    expect(messages.at(-1)?.content).toBe('painted 0 red for desk-7')
  })
})

describe('Plugins', () => {
  it('serve a draft of the agent without being loaded again', async () => {
    const { upstream, server, file } = one
    await writeFile(join(dirname(file), 'plugins', 'brush.mjs'), 'throw new Error("Loaded again")')
    upstream.always(textReply('Done.'))
    const messages = [{ role: 'user', content: 'Paint.' }]
    const tryDraft = async (...plugins: string[]) => {
      const body = { text: JSON.stringify({ plugins }), messages }
      const { frames } = await readChat(await server.request('/admin/agent/chat', { body }))
      return frames[0]?.frame
    }
    expect(await tryDraft('./plugins/brush.mjs')).toEqual({ type: 'draft', unavailable: [] })
    const { tools } = modelRequest(upstream.requests.at(-1))
    expect(tools.map(({ function: { name } }) => name)).toContain('brush__paint0')
    expect(await tryDraft('./plugins/other.mjs')).toMatchObject({
      unavailable: [{ part: 'plugin', name: 'other' }],
    })
  })

  it('are listed, even if they cannot be loaded', verifies('plugins.state'), async () => {
    const { server } = await start(1, ['./plugins/nothing.mjs'])
    expect(await (await server.request('/agent/capabilities')).json()).toMatchObject({
      plugins: [
        { name: 'brush', state: 'on' },
        { name: 'nothing', state: 'unavailable', reason: expect.stringContaining('nothing.mjs') },
      ],
    })
    const { tools } = JSON.parse(await (await server.request('/agent/tools')).text())
    expect(tools).toContainEqual(
      expect.objectContaining({ name: 'brush__paint0', source: 'plugin:brush', state: 'on' }),
    )
  })
})

describe('More than forty tools', () => {
  it('are found by the model, and called in a later round', verifies('tools.search'), async () => {
    const { server, upstream } = await start(50)
    upstream.script(
      toolCallReply({ name: 'search_tools', arguments: { query: 'zebra', limit: 1 } }),
      toolCallReply({ name: 'brush__paint7', arguments: { colour: 'black' } }),
      textReply('A zebra.'),
    )
    const { answer } = await ask(server, 'Paint a zebra.')
    expect(answer).toBe('A zebra.')
    const offered = upstream.requests.map((request) =>
      modelRequest(request).tools.flatMap((tool) =>
        tool.function.name.startsWith('brush') ? [tool.function.name] : [],
      ),
    )
    expect(offered).toEqual([[], ['brush__paint7'], ['brush__paint7']])
    expect(modelRequest(upstream.requests.at(-1)).messages.at(-1)?.content).toMatch(
      /^painted 7 black/,
    )
  })
})
