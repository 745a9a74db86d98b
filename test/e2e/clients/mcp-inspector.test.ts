import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { parseJson } from '../../../src/lib/text/json.ts'
import { TEST_KEY } from '../../support/server.ts'
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
})
