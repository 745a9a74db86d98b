import { SkillList } from '@agent-server/schemas/agent.ts'
import { McpTestResult } from '@agent-server/schemas/mcp.ts'
import { SandboxReport } from '@agent-server/schemas/sandbox.ts'
import { describe, expect, it } from 'vitest'
import { verifies } from '../requirements.ts'
import { failureOf } from '../support/failure.ts'
import { onlyLong } from '../support/long.ts'
import { startEverything } from '../support/mcp-servers.ts'
import { startServer } from '../support/server.ts'

const server = await startServer({ OUTBOUND_ALLOW: '127.0.0.1' })

const attempt = (path: string, agent: object) =>
  server.request(`/admin/agent/${path}`, { body: { text: JSON.stringify(agent) } })

describe('A configuration that is not saved', verifies('admin.agent.trials'), () => {
  it('connects to an MCP server that is off, and lists its tools', async () => {
    const everything = await startEverything('streamableHttp')
    const mcpServers = { fresh: { url: everything.url, enabled: false } }
    const response = await attempt('mcp/fresh/test', { mcpServers })
    const result = McpTestResult.parse(await response.json())
    expect(result).toMatchObject({ connection: 'fresh', ok: true })
    expect(result.tools.map(({ remoteName }) => remoteName)).toContain('echo')
    await everything.stop()
    const gone = McpTestResult.parse(await (await attempt('mcp/fresh/test', { mcpServers })).json())
    expect(gone.steps.at(-1)).toMatchObject({ ok: false, message: expect.any(String) })
    expect(await failureOf(await attempt('mcp/other/test', { mcpServers }))).toMatchObject({
      code: 'connection_not_found',
    })
  })

  it('reads skills', async () => {
    const skills = { sources: ['./nowhere'] }
    const found = SkillList.parse(await (await attempt('skills/check', { skills })).json())
    expect(found.skills).toMatchObject([{ state: 'unavailable', reason: expect.any(String) }])
  })

  it('verifies a sandbox', onlyLong, async () => {
    const response = await attempt('sandbox/verify', { sandbox: 'embedded' })
    const report = SandboxReport.parse(await response.json())
    expect(report.probes.find(({ name }) => name === 'computation')).toMatchObject({ ok: true })
  })

  it('is refused with its mistakes', async () => {
    expect(await failureOf(await attempt('skills/check', { prompt: 3 }))).toMatchObject({
      code: 'invalid_request',
      param: 'text.prompt',
    })
  })
})
