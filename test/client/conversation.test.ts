import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, it } from 'vitest'
import { isLong, onlyLong } from '../support/long.ts'
import { startRestaurant } from '../support/restaurant.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, type StartedServer, startServer, TEST_KEY } from '../support/server.ts'
import { AGENT_SERVER } from '../support/server-process.ts'
import { hasProgram } from '../support/shell.ts'
import { writeAgentFile } from '../support/temporary-files.ts'
import { textReply, toolCallReply } from '../support/upstream-replies.ts'

/** The command in a terminal of its own. */
function converseWith(server: StartedServer) {
  const command = [...AGENT_SERVER, 'chat', '--quiet'].join(' ')
  const { PATH } = process.env
  const env = { PATH, TERM: 'dumb', AGENT_SERVER_URL: server.url, AGENT_SERVER_KEY: TEST_KEY }
  return spawn('script', ['-qec', command, '/dev/null'], { env })
}

/** Returns a function that waits until the command has shown these words. */
function follow({ stdout }: ReturnType<typeof converseWith>) {
  let shown = ''
  return async (words: RegExp): Promise<void> => {
    while (!words.test(shown)) shown += (await once(stdout, 'data')).join('')
  }
}

it.skipIf(!hasProgram('script'))(
  'In a terminal agent-server-client chat is a conversation, in which each question knows those before it (needs script)',
  async () => {
    const upstream = await startScriptedUpstream()
    upstream.script(textReply('At night.'), textReply('By day.'))
    const server = await startServer(modelAt(upstream))
    const child = converseWith(server)
    const until = follow(child)
    child.stdin.write('When do owls hunt?\n')
    await until(/At night\./)
    const next = upstream.nextRequest()
    child.stdin.write('When do eagles rest in the mountains?\n')
    const second = await next
    await until(/By day\./)
    child.stdin.end('\u0004')
    const [code] = await once(child, 'close')
    expect(code).toBe(0)
    const messages = JSON.stringify(second.body)
    expect(messages).toMatch(/When do owls hunt\?.*At night\..*When do eagles rest/s)
  },
)

it.runIf(isLong && hasProgram('script'))(
  'A conversation tells what can be typed, begins anew and ends by words of its own (needs script)',
  onlyLong,
  async () => {
    const upstream = await startScriptedUpstream()
    upstream.script(textReply('At night.'), textReply('By day.'))
    const child = converseWith(await startServer(modelAt(upstream)))
    const until = follow(child)
    child.stdin.write('/hlep\n')
    await until(/There is no \/hlep: did you mean \/help\?/)
    child.stdin.write('/help\n')
    await until(/\/new +Begin a new conversation.*Ctrl\+C/s)
    child.stdin.write('When do owls hunt?\n')
    await until(/At night\./)
    const next = upstream.nextRequest()
    child.stdin.write('/new\nWhen do eagles rest?\n')
    const { body } = await next
    await until(/By day\./)
    expect(JSON.stringify(body)).not.toMatch(/owls hunt/)
    child.stdin.write('/exit\n')
    expect(await once(child, 'close')).toEqual([0, null])
  },
)

it.runIf(isLong && hasProgram('script'))(
  'An interruption ends an answer that waits for approval, and the conversation goes on (needs script)',
  onlyLong,
  async () => {
    const upstream = await startScriptedUpstream()
    upstream.script(toolCallReply([{ name: 'semantic_search', arguments: { query: 'owls' } }]))
    upstream.script(textReply('By day.'))
    const tools = { semantic_search: { approval: 'always' } }
    const AGENT_CONFIG = await writeAgentFile({ tools })
    const child = converseWith(await startServer(modelAt(upstream, { AGENT_CONFIG })))
    const until = follow(child)
    child.stdin.write('When do owls hunt?\n')
    await until(/Run it\?/)
    child.stdin.write('\u0003')
    await until(/aborted/i)
    child.stdin.write('When do eagles rest in the mountains?\n')
    await until(/By day\./)
    child.stdin.end('\u0004')
    const [code] = await once(child, 'close')
    expect(code).toBe(0)
  },
)

it.runIf(isLong && hasProgram('script'))(
  'What an MCP server asks is asked in the terminal, field by field (needs script)',
  onlyLong,
  async () => {
    const upstream = await startScriptedUpstream()
    upstream.script(toolCallReply([{ name: 'mcp__table__book', arguments: {} }]))
    upstream.script(textReply('Booked.'))
    const restaurant = await startRestaurant()
    const mcpServers = { table: { url: restaurant.url } }
    const AGENT_CONFIG = await writeAgentFile({ mcpServers })
    const settings = modelAt(upstream, { AGENT_CONFIG, OUTBOUND_ALLOW: '127.0.0.1' })
    const server = await startServer(settings)
    await expect
      .poll(async () => (await server.request('/agent/capabilities')).text())
      .toContain('"state":"on"')
    const child = converseWith(server)
    const until = follow(child)
    child.stdin.write('Book a table\n')
    await until(/asks: For how many, and when\?.*Answer\? \[y\/N\]/s)
    const entered = ['y', '2', '2026-12-01', 'outside', 'ramp', '', 'n']
    const fields = [/Guests \(integer\)/, /Day/, /Seat \(inside\|outside, optional\)/]
    for (const field of [...fields, /extras/, /name/, /Quiet table/, undefined]) {
      child.stdin.write(`${entered.shift()}\n`)
      if (field) await until(field)
    }
    await until(/Booked\./)
    const content = {
      guests: 2,
      when: '2026-12-01',
      seat: 'outside',
      extras: ['ramp'],
      quiet: false,
    }
    expect(restaurant.told).toEqual([{ answer: { action: 'accept', content }, state: 'table 7' }])
    child.stdin.end('\u0004')
    const [code] = await once(child, 'close')
    expect(code).toBe(0)
  },
)
