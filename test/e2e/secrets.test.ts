import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, it, onTestFinished } from 'vitest'
import { onlyLong } from '../support/long.ts'
import { TEST_KEY } from '../support/server.ts'
import { startServerProcess } from '../support/server-process.ts'
import { writeAgentFile } from '../support/temporary-files.ts'

/** As they are sent; each differs from the others from its first letter on. */
const SECRETS = {
  chat: 'chat-sk-1234567890abcdef',
  embedding: 'embedding-sk-1234567890abcdef',
  rerank: 'rerank-sk-1234567890abcdef',
  oidc: 'oidc-client-secret/+1234567890',
  webhook: `whsec_${Buffer.from('the-webhook-secret-of-32-bytes-xx').toString('base64')}`,
  webhookUrl: 'webhook-token-1234567890',
  mcp: 'mcp-"token"-1234567890abcdef',
  telemetry: 'telemetry-token-1234567890',
  e2b: 'e2b_key_1234567890abcdef',
  proxy: 'proxy-p@sswrd-1234567890',
}

/** Whoever reads the text sees the secret, or a good part of it, whatever it has been written in. */
function shows(said: string, secret: string): boolean {
  const part = secret.slice(0, 18)
  const base64 = Buffer.from(part).toString('base64').slice(0, 22)
  const inJson = JSON.stringify(part).slice(1, -1)
  const ways = [
    part,
    inJson,
    JSON.stringify(inJson).slice(1, -1),
    encodeURIComponent(part),
    encodeURIComponent(encodeURIComponent(part)),
    base64,
    Buffer.from(part).toString('hex'),
  ]
  return ways.some((way) => said.includes(way))
}

/** Refuses everything with all that it was sent, in several writings. */
async function startEcho() {
  const answer = async (incoming: IncomingMessage, response: ServerResponse) => {
    const got = [incoming.url, JSON.stringify(incoming.headers), await text(incoming)].join(' ')
    const values = Object.values(incoming.headers).join(' ')
    const bare = Buffer.from(values.replace(/^.*Basic /, ''), 'base64').toString('latin1')
    const message = [got, encodeURIComponent(got), Buffer.from(values).toString('base64'), bare]
    response.writeHead(401, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ error: { message: message.join(' | ') } }))
  }
  const server = createServer((...exchange) => void answer(...exchange)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  return { origin: `http://127.0.0.1:${port}`, host: `127.0.0.1:${port}` }
}

it(
  'shows no secret of another server anywhere, whatever that server says of it',
  onlyLong,
  async () => {
    const { origin, host } = await startEcho()
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the configuration
    const headers = { 'x-key': '${MCP_WORD}' }
    const agent = await writeAgentFile({
      mcpServers: { notes: { url: origin, headers } },
    })
    const environment = {
      LOG_LEVEL: 'trace',
      AGENT_CONFIG: agent,
      OUTBOUND_ALLOW: '127.0.0.1',
      CHAT_MODEL: 'x',
      CHAT_BASE_URL: `${origin}/v1`,
      CHAT_API_KEY: SECRETS.chat,
      EMBEDDING_MODEL: 'x',
      EMBEDDING_BASE_URL: `${origin}/v1`,
      EMBEDDING_API_KEY: SECRETS.embedding,
      RERANK_MODEL: 'x',
      RERANK_BASE_URL: `${origin}/v1`,
      RERANK_API_KEY: SECRETS.rerank,
      OIDC_ISSUER: origin,
      OIDC_CLIENT_ID: 'agent',
      OIDC_CLIENT_SECRET: SECRETS.oidc,
      WEBHOOK_URL: `${origin}/hook?token=${SECRETS.webhookUrl}`,
      WEBHOOK_SECRET: SECRETS.webhook,
      MCP_WORD: SECRETS.mcp,
      E2B_API_KEY: SECRETS.e2b,
      OTEL_EXPORTER_OTLP_ENDPOINT: origin,
      HTTPS_PROXY: `http://me:${encodeURIComponent(SECRETS.proxy)}@${host}`,
      OTEL_EXPORTER_OTLP_HEADERS: `x-token=${SECRETS.telemetry}`,
    }
    const server = await startServerProcess(environment, { until: 'listening' })
    await server.request('/documents?wait=3', { body: { text: 'Owls hoot.' } })
    await server.request('/query', { body: { query: 'owls', mode: 'hybrid' } })
    const messages = [{ role: 'user', content: 'Who hoots?' }]
    const answered = [await server.request('/chat', { body: { messages, stream: false } })]
    for (const path of [
      '/ui/sign-in',
      '/readiness',
      '/admin/events?follow=false',
      '/admin/runs',
      '/admin/audit/export',
      '/admin/settings',
      '/admin/server',
      '/agent/capabilities',
      '/metrics',
    ]) {
      answered.push(await server.request(path))
    }
    for (const body of [{ kind: 'chat' }, { kind: 'embedding' }, { kind: 'rerank' }]) {
      answered.push(await server.request('/admin/models/test', { body }))
    }
    answered.push(await server.request('/agent/mcp/notes/test', { body: {} }))
    answered.push(await server.request('/admin/deploy', { body: { target: 'compose' } }))
    answered.push(await server.request('/admin/events?follow=false'))
    const told = (await Promise.all(answered.map((each) => each.text()))).join('\n')
    await server.stop()

    const said = server.stdout + server.stderr + told
    expect(server.stdout).toContain('[secret]')
    const shown = Object.entries(SECRETS).filter(([, secret]) => shows(said, secret))
    expect(shown.map(([name]) => name)).toEqual([])
    expect(said).not.toContain(TEST_KEY)
  },
)
