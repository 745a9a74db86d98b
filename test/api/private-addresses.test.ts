import { SkillList } from '@agent-server/schemas/agent.ts'
import { describe, expect, it } from 'vitest'
import {
  FORBIDDEN_ADDRESSES,
  LOOPBACK_NAME,
} from '../../packages/lib/test/outbound/forbidden-hosts-for-test.ts'
import { verifies } from '../requirements.ts'
import { testOf } from '../support/mcp-connections.ts'
import { startHttp } from '../support/mcp-servers.ts'
import { startServer } from '../support/server.ts'
import { writeAgentFile } from '../support/temporary-files.ts'

const ADDRESSES = FORBIDDEN_ADDRESSES.map(([, host]) => host)
const HOSTS = [...ADDRESSES, LOOPBACK_NAME]
const NAMES_THE_REMEDY = /add it to OUTBOUND_ALLOW/

/** What nobody may reach, and how often it was reached. */
async function startSecret() {
  const asked: string[] = []
  const { url } = await startHttp((incoming, response) => {
    asked.push(incoming.url ?? '')
    response.end('secret')
  })
  return { port: new URL(url).port, asked }
}

/** Redirects `/<place in hosts>/…` to that host; answers the URLs, by a name that can be allowed by itself. */
async function startRedirects(hosts: readonly string[], port: string) {
  const { url } = await startHttp((incoming, response) => {
    const host = hosts[Number(incoming.url?.split('/')[1])]
    const location = Buffer.from(`http://${host}:${port}/`).toString('latin1')
    response.writeHead(307, { location }).end()
  })
  const base = `http://${LOOPBACK_NAME}:${new URL(url).port}`
  return hosts.map((_host, place) => `${base}/${place}/SKILL.md`)
}

/** The message with which the test of each connection fails; nothing where it succeeds. */
async function connectToEach(urls: readonly string[], allowed: string) {
  const named = urls.map((url, place) => [`c${place}`, { url, enabled: false }] as const)
  const file = await writeAgentFile({ mcpServers: Object.fromEntries(named) })
  const server = await startServer({ AGENT_CONFIG: file, OUTBOUND_ALLOW: allowed })
  const results = await Promise.all(named.map(([name]) => testOf(server, name)))
  return results.map(({ ok, steps }) => (ok ? undefined : steps.at(-1)?.message))
}

/** The reason for which each source of skills is refused. */
async function loadEach(sources: readonly string[], allowed: string) {
  const file = await writeAgentFile({ skills: { sources } })
  const { request } = await startServer({ AGENT_CONFIG: file, OUTBOUND_ALLOW: allowed })
  const response = await request('/agent/skills/reload', { body: {} })
  const { skills } = SkillList.parse(await response.json())
  return sources.map((source) => skills.find(({ name }) => name === source)?.reason)
}

/** Each host with what was said of it where that is not what should be. */
function unlike(
  hosts: readonly string[],
  reasons: readonly (string | undefined)[],
  wanted: RegExp,
) {
  expect(reasons).toHaveLength(hosts.length)
  return hosts
    .map((host, place) => [host, reasons[place] ?? 'reached'] as const)
    .filter(([, reason]) => !wanted.test(reason))
}

describe.each([
  ['an MCP connection', connectToEach],
  ['a source of skills', loadEach],
] as const)('%s', verifies('mcp.guard', 'skills.remote'), (_what, reasonsFor) => {
  it('reaches no private address, in whatever form', async () => {
    const { port, asked } = await startSecret()
    const urls = HOSTS.map((host) => `http://${host}:${port}/SKILL.md`)
    expect(unlike(HOSTS, await reasonsFor(urls, ''), NAMES_THE_REMEDY)).toEqual([])
    expect(asked).toEqual([])
  })

  it('follows no redirect to one', async () => {
    const { port, asked } = await startSecret()
    const urls = await startRedirects(ADDRESSES, port)
    const reasons = await reasonsFor(urls, LOOPBACK_NAME)
    expect(unlike(ADDRESSES, reasons, /add it to OUTBOUND_ALLOW|redirects/)).toEqual([])
    expect(asked).toEqual([])
  })
})
