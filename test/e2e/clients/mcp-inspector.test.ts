import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { promisify } from 'node:util'
import { parseJson } from '@agent-server/lib/text/json.ts'
import { describe, expect, it, onTestFinished } from 'vitest'
import { TEST_KEY } from '../../support/server.ts'
import { freePort } from '../../support/server-process.ts'
import { hasProgram } from '../../support/shell.ts'
import { temporaryDirectory } from '../../support/temporary-files.ts'
import { startOneServer } from './one-server.ts'

const server = await startOneServer()
const program = new URL('node_modules/.bin/mcp-inspector', import.meta.url).pathname
const home = await temporaryDirectory()

/** What the inspector prints, as JSON, with a key in its headers. */
const inspect = async (...more: string[]) => {
  const { stdout } = await promisify(execFile)(
    program,
    ['--cli', `${server.url}/mcp`, '--header', `Authorization: Bearer ${TEST_KEY}`, ...more],
    { env: { ...process.env, HOME: home }, timeout: 60_000 },
  )
  return parseJson(stdout)
}

describe('The MCP Inspector', () => {
  it('lists the tools, whose schemas every client can use', async () => {
    const listed = await inspect('--method', 'tools/list', '--strict')
    const { tools } = Object(listed)
    expect(tools.map(({ name }: { name: string }) => name)).toContain('query')
  })

  it('calls a tool', async () => {
    const call = ['--method', 'tools/call', '--tool-name', 'query']
    const answer = await inspect(...call, '--tool-arg', 'query=When does the library open?')
    expect(JSON.stringify(answer)).toContain('The library opens at nine')
  })

  it.skipIf(!hasProgram('script'))(
    'signs in with OAuth, and calls with the key that it is given (needs script)',
    { timeout: 60_000 },
    async () => {
      const callback = `http://127.0.0.1:${await freePort()}/oauth/callback`
      const call = `${program} --cli ${server.url}/mcp --method tools/list --callback-url ${callback}`
      const env = { ...process.env, HOME: home, BROWSER: 'true', TERM: 'dumb' }
      const terminal = spawn('script', ['-qec', call, '/dev/null'], { env })
      onTestFinished(() => void terminal.kill())
      let shown = ''
      terminal.stdout.on('data', (data) => {
        shown += data
      })
      const page = /http:\S+?\/oauth\/authorize\?[\w=&%.~-]+(?=[^\w=&%.~-])/
      await expect.poll(() => page.exec(shown)?.[0], { timeout: 30_000 }).toBeDefined()
      const { origin, pathname, searchParams } = new URL(page.exec(shown)?.[0] ?? '')
      const form = new URLSearchParams([...searchParams, ['key', TEST_KEY], ['decision', 'allow']])
      const allowed = await fetch(origin + pathname, {
        method: 'POST',
        body: form,
        redirect: 'manual',
      })
      expect((await fetch(allowed.headers.get('location') ?? '')).status).toBe(200)
      expect(await once(terminal, 'close')).toEqual([0, null])
      expect(shown).toContain('"name": "query"')
    },
  )
})
