import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { type RecordedRequest, startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer, TEST_KEY } from '../support/server.ts'
import { AGENT_SERVER } from '../support/server-process.ts'
import { hasProgram } from '../support/shell.ts'
import { textReply } from '../support/upstream-replies.ts'

it.skipIf(!hasProgram('script'))(
  'In a terminal agent-server chat is a conversation, in which each question knows those before it (needs script)',
  async () => {
    const upstream = await startScriptedUpstream()
    upstream.script(textReply('At night.'), textReply('By day.'))
    const server = await startServer(modelAt(upstream))
    const command = [...AGENT_SERVER, 'chat', '--quiet'].join(' ')
    const { PATH } = process.env
    const env = { PATH, TERM: 'dumb', AGENT_SERVER_URL: server.url, AGENT_SERVER_KEY: TEST_KEY }
    const child = spawn('script', ['-qec', command, '/dev/null'], { env })
    const shown = text(child.stdout)
    const asked = async (question: string): Promise<RecordedRequest> => {
      const next = upstream.nextRequest()
      child.stdin.write(`${question}\n`)
      const request = await next
      await request.closed
      return request
    }
    await asked('When do owls hunt?')
    const second = await asked('When do eagles rest in the mountains?')
    child.stdin.end('\u0004')
    const [code] = await once(child, 'close')
    expect(code).toBe(0)
    expect(await shown).toMatch(/At night\..*By day\./s)
    const messages = JSON.stringify(second.body)
    expect(messages).toMatch(/When do owls hunt\?.*At night\..*When do eagles rest/s)
  },
)
