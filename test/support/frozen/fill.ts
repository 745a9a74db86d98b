import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { everything } from '@agent-server/lib/visibility.ts'
import { McpAccountStart } from '@agent-server/schemas/mcp.ts'
import { AgentFile } from '@agent-server/schemas/operator/admin.ts'
import { ApiKeyCreated } from '@agent-server/schemas/operator/api-key.ts'
import type { OpenedStore } from '@agent-server/stores'
import { expect } from 'vitest'
import { z } from 'zod'
import { plainSkill } from '../../agent/skills/skill-for-test.ts'
import { openCookieBrowser, signInAtIssuer } from '../cookie-browser.ts'
import { sendFile } from '../forms.ts'
import { settled } from '../mcp-connections.ts'
import { startEverything } from '../mcp-servers.ts'
import { modelRequest } from '../model-request.ts'
import { startOidcIssuer } from '../oidc-issuer.ts'
import { speakingFor } from '../people.ts'
import { startPersonalServer } from '../personal-mcp-server.ts'
import { startScriptedEmbedder } from '../scripted-embedder.ts'
import { startScriptedUpstream } from '../scripted-upstream.ts'
import { modelAt, requester, startServer, type TestServer } from '../server.ts'
import { startSite } from '../site.ts'
import { textReply, toolCallReply } from '../upstream-replies.ts'
import { fillWhole } from '../whole-server.ts'

const FILES = fileURLToPath(new URL('../../fixtures/files/', import.meta.url))
/** Large, or of passwords. */
const LEFT_OUT = /^(?:password|kingfishers)/
const Id = z.looseObject({ id: z.string() })

/** The model calls the tool that a question names, and answers everything else. */
const CALLS: Record<string, object> = {
  make_chart: {
    title: 'Sales',
    mark: 'bar',
    x: { field: 'region' },
    y: { field: 'amount' },
    rows: [
      { region: 'north', amount: 1 },
      { region: 'south', amount: 2 },
    ],
  },
  semantic_search: { query: 'owls' },
}

async function startModel() {
  const upstream = await startScriptedUpstream()
  const said = textReply('Fuel and four wheels [1].')
  upstream.always((request) => {
    const { messages } = modelRequest(request)
    const last = messages.at(-1)
    const asked = JSON.stringify(last?.content ?? '')
    const name = last?.role === 'user' && Object.keys(CALLS).find((tool) => asked.includes(tool))
    const script = name ? toolCallReply({ name, arguments: CALLS[name] ?? {} }) : said
    return typeof script === 'function' ? script(request) : script
  })
  return upstream
}

/**
 * Fills a folder, and the database if one is given, with everything that a version can write: over HTTP what is made
 * there, and by the store what is there for a moment only.
 */
export async function fillEverything(
  directory: string,
  place: Record<string, string>,
  openStore: () => Promise<OpenedStore>,
): Promise<void> {
  const [upstream, embedder, issuer, site] = await Promise.all([
    startModel(),
    startScriptedEmbedder(),
    startOidcIssuer(),
    startSite(),
  ])
  issuer.accounts.set('ada', { name: 'Ada', groups: ['staff'] })
  const tickets = await startPersonalServer(['ada'])
  const everyTool = await startEverything('streamableHttp')
  site.serve('/skill/SKILL.md', { body: plainSkill('skill') })
  site.serve('/page', { body: '<title>Page</title><main><p>Kites circle over fields.</p></main>' })
  const handbook = join(directory, '..', 'handbook')
  await mkdir(handbook)
  await writeFile(join(handbook, 'leave.md'), '# Leave\n\nEverybody has thirty days of leave.')
  const agent = {
    prompt: 'Be brief.',
    tools: { semantic_search: { approval: 'always' } },
    skills: { sources: [`${site.url}/skill/SKILL.md`] },
    mcpServers: {
      tickets: { url: tickets.url, oauth: { per: 'person' } },
      every: { url: everyTool.url },
    },
    prices: { models: { scripted: { input: 1, output: 2 } } },
    budgets: { groups: { staff: { tokensPerDay: 1_000_000, shared: true } } },
    agents: { desk: { prompt: 'Be kind.' } },
  }
  const file = join(directory, 'agent.json')
  await writeFile(file, JSON.stringify(agent, null, 2))
  const server = await startServer(
    modelAt(upstream, {
      ...issuer.settings,
      ...place,
      DATA_DIR: directory,
      AGENT_CONFIG: file,
      OUTBOUND_ALLOW: '127.0.0.1',
      EMBEDDING_MODEL: 'model-a',
      EMBEDDING_BASE_URL: embedder.url,
      EMBEDDING_API_KEY: 'any-key-1234',
      CHUNK_CONTEXT: 'chat',
      WATCH_FOLDERS: `handbook=${handbook}`,
      WEBHOOK_URL: 'http://127.0.0.1:9/hook',
      WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
    }),
  )
  issuer.allow(server.url)
  await settled(server, 'every', 'on')
  await addDocuments(server, site.url)
  await act(server)
  await connectAccount(server)
  await fillWhole(server)
  const { digest } = AgentFile.parse(await (await server.request('/admin/agent')).json())
  const body = { text: JSON.stringify(agent), basedOn: digest }
  await done(server.request, '/admin/agent', { method: 'PUT', body })
  await server.close()

  const store = await openStore()
  const keys = Uint32Array.from((await store.chunkKeys()).slice(0, 1))
  await store.replacement.begin({ model: 'model-b', dimension: 2 })
  await store.replacement.add({ keys, dimension: 2, values: Float32Array.of(0.6, 0.8) })
  await store.add({ id: 'waiting', text: 'Waits to be read.' })
  await store.put(everything(), {
    id: 'replaced',
    text: 'Swifts sleep on the wing, and land to breed.',
  })
  await store.close()
}

async function addDocuments(server: TestServer, site: string): Promise<void> {
  for (const name of (await readdir(FILES)).filter((each) => !LEFT_OUT.test(each))) {
    const bytes = new Uint8Array(await readFile(join(FILES, name)))
    expect([name, (await sendFile(server, { name, bytes })).status]).toEqual([name, 200])
  }
  const ok = (path: string, options: Parameters<TestServer['request']>[1]) =>
    done(server.request, path, options)
  await ok('/documents/replaced?wait=30', {
    method: 'PUT',
    body: { text: 'Swifts sleep on the wing.' },
  })
  await ok('/documents?wait=30', { body: { url: `${site}/page`, refresh: '1w' } })
  const headers = { 'idempotency-key': 'once' }
  await ok('/documents?wait=30', { body: { text: 'Sent once.' }, headers })
  await ok('/v1/vector_stores', { body: { name: 'Field notes' } })
  const { id } = Id.parse(await (await ok('/v1/conversations', { body: {} })).json())
  const own = { text: 'Of this conversation alone.', conversation: id }
  await ok('/documents?wait=30', { body: own })
}

async function done(
  request: TestServer['request'],
  path: string,
  options?: Parameters<TestServer['request']>[1],
): Promise<Response> {
  const response = await request(path, options)
  if (response.status < 300) return response
  throw new Error(`${path}: ${response.status} ${await response.text()}`)
}

/** Questions with files, calls that wait, what people share, and the use of a key. */
async function act(server: TestServer): Promise<void> {
  const ada = speakingFor(server, { name: 'ada', groups: ['staff'] })
  const ask = (content: string, more: object = {}) => ({
    body: { messages: [{ role: 'user', content }], ...more },
  })
  const { id } = Id.parse(await (await done(ada, '/v1/conversations', { body: {} })).json())
  await (await done(ada, '/chat', ask('Call make_chart', { conversation: { id } }))).text()
  await done(ada, `/v1/conversations/${id}`, { body: { access: ['group:staff'] } })
  await (await done(ada, '/chat', ask('Call semantic_search', { includeSteps: true }))).text()
  const made = await done(server.request, '/admin/keys', {
    body: { name: 'Web', scopes: ['query'] },
  })
  const { secret } = ApiKeyCreated.parse(await made.json())
  await done(requester(server.url, secret), '/query', { body: { query: 'owls' } })
}

/** Signs in, and connects an account at an MCP server. */
async function connectAccount({ url }: TestServer): Promise<void> {
  const browser = openCookieBrowser()
  const from = `${url}/ui/sign-in/oidc`
  const back = `${url}/ui/sign-in/callback`
  await browser.visit(await signInAtIssuer(browser, { from, back, login: 'ada' }))
  const begun = await browser.ask(`${url}/ui/api/agent/accounts/tickets`, { method: 'POST' })
  const start = McpAccountStart.parse(await begun.json())
  const allowed = await fetch(`${start.url}&login=ada`, { redirect: 'manual' })
  await browser.visit(allowed.headers.get('location') ?? '')
}
