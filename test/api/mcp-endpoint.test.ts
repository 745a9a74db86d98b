import { ApiKeyCreated } from '@agent-server/schemas/operator/api-key.ts'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as OlderTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { verifies } from '../requirements.ts'
import { deleteDocuments } from '../support/knowledge.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer, TEST_KEY, type TestServer } from '../support/server.ts'
import { hangReply, textReply } from '../support/upstream-replies.ts'

const TEXT = 'The library opens at nine on weekdays. On Saturdays it opens at ten.'
const TOOLS = ['query', 'get_document', 'search', 'fetch', 'ask', 'add_document']
const INFO = { name: 'test', version: '1.0.0' }
const WITH_KEY = { requestInit: { headers: { authorization: `Bearer ${TEST_KEY}` } } }

/** The SDK's client of the current protocol. */
async function connect(
  { url }: TestServer,
  mode: 'auto' | 'legacy' = 'auto',
  options: typeof WITH_KEY = WITH_KEY,
) {
  const client = new Client(INFO, { versionNegotiation: { mode } })
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), options))
  onTestFinished(() => client.close())
  return client
}

function textOf({ content }: Awaited<ReturnType<Client['callTool']>>): string {
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('')
}

/** What tests need that bring no settings of their own. */
const shared = await startServer()
/** Empty at the beginning of each test. */
const server = await startServer()
afterEach(() => deleteDocuments(server))

describe('/mcp', verifies('mcp.serves'), () => {
  it.each([
    ['the current protocol', 'auto', '2026-07-28'],
    ['the older protocol', 'legacy', '2025-11-25'],
  ] as const)(
    'finds passages, reads documents and asks the agent, in %s',
    async (_case, mode, protocol) => {
      const id = await server.ingest({ title: 'Opening hours', text: TEXT })
      const client = await connect(server, mode)
      expect(client.getNegotiatedProtocolVersion()).toBe(protocol)
      const { tools } = await client.listTools()
      expect(tools.map(({ name }) => name)).toEqual(TOOLS)

      const call = async (name: string, input: Record<string, unknown>) =>
        textOf(await client.callTool({ name, arguments: input }))
      expect(await call('query', { query: 'Saturdays' })).toMatch(
        new RegExp(
          `^\\[1\\] Opening hours, document ${id} \\(score [\\d.]+, characters 0 to \\d+\\)\\nThe`,
        ),
      )
      expect(await call('query', { query: 'zeugma' })).toBe('Nothing was found.')
      expect(await call('query', { query: 'Saturdais' })).toMatch(
        /Saturday.*\n“Saturdais” was not found: searched for “[Ss]aturdays?”\.$/s,
      )
      expect(await call('get_document', { id })).toBe(`Opening hours, document ${id}\n\n${TEXT}`)
      expect(await call('ask', { question: 'When does it open on Saturdays?' })).toMatch(
        new RegExp(`ten\\. \\[1\\][^]*\\n\\nSources:\\n\\[1\\] Opening hours, document ${id}$`),
      )
    },
  )

  it('serves a client of the older SDK', async () => {
    await server.ingest({ title: 'Opening hours', text: TEXT })
    const client = new OlderClient(INFO)
    await client.connect(new OlderTransport(new URL(`${server.url}/mcp`), WITH_KEY))
    onTestFinished(() => client.close())
    const result = await client.callTool({ name: 'query', arguments: { query: 'Saturdays' } })
    expect(JSON.stringify(result)).toContain('The library opens at nine')
  })

  it('gives a long document piece by piece', async () => {
    const server = shared
    const lines = Array.from({ length: 3_000 }, (_, index) => `Line ${index} of the long report.`)
    const id = await server.ingest({ title: 'Report', text: lines.join('\n\n') })
    const client = await connect(server)
    let text = ''
    let start: string | undefined
    do {
      const input = { id, ...(start && { start: Number(start) }) }
      const piece = textOf(await client.callTool({ name: 'get_document', arguments: input }))
      text += piece.replace(/^.*\n\n/, '').replace(/\n\[more: .*\]$/, '')
      start = /reads on with start (\d+)\]$/.exec(piece)?.[1]
    } while (start)
    expect(lines.filter((line) => !text.includes(line))).toEqual([])
  })

  it.each([
    ['an unknown document', 'get_document', { id: 'unknown' }, /unknown/],
    ['an empty question', 'query', { query: '' }, /must not be empty/],
    ['a number out of bounds', 'query', { query: 'x', topK: 1_000 }, /topK/],
  ])('tells what is wrong: %s', async (_case, name, input, message) => {
    const client = await connect(shared)
    const result = await client.callTool({ name, arguments: input })
    expect(result.isError).toBe(true)
    expect(textOf(result)).toMatch(message)
  })

  it.each(['auto', 'legacy'] as const)(
    'answers programs by its output schemas, narrowed by filter and collection: %s',
    async (mode) => {
      const url = 'https://hours.example'
      const hours = { title: 'Hours', text: TEXT, url, metadata: { year: 2026 } }
      const id = await server.ingest({ ...hours, collection: 'open' })
      const other = await server.ingest({ text: 'The library of Saturdays is elsewhere.' })
      const client = await connect(server, mode)
      const { tools } = await client.listTools()
      expect(tools.every(({ outputSchema }) => outputSchema !== undefined)).toBe(true)
      const call = async (name: string, input: Record<string, unknown>) =>
        Object((await client.callTool({ name, arguments: input })).structuredContent)

      const query = 'Saturdays library'
      const ids = ({ hits }: { hits: { documentId: string }[] }) =>
        hits.map((hit) => hit.documentId)
      const found = await call('query', { query, filter: { field: 'year', gte: 2026 } })
      expect(ids(found)).toEqual([id])
      expect(found.hits[0]).toMatchObject({ score: expect.any(Number), start: 0 })
      expect(ids(await call('query', { query, collection: 'default' }))).toEqual([other])
      expect(ids(await call('query', { query: 'library quagga', minScore: 0.6 }))).toEqual([])
      expect(await call('get_document', { id, start: 4 })).toMatchObject({
        id,
        url,
        text: TEXT.slice(4),
        start: 4,
        characters: TEXT.length,
      })
      const asked = await call('ask', { question: 'When does it open?', collection: 'open' })
      expect(asked).toMatchObject({ sources: [{ id, title: 'Hours', url }], files: [] })

      const { results } = await call('search', { query })
      expect(results).toContainEqual({ id, title: 'Hours', url })
      expect(results).toContainEqual({ id: other, title: other, url: `document:///${other}` })
      const fetched = await client.callTool({ name: 'fetch', arguments: { id } })
      expect(JSON.parse(textOf(fetched))).toEqual({
        id,
        title: 'Hours',
        url,
        text: TEXT,
        metadata: { year: 2026, collection: 'open' },
      })

      const { resources } = await client.listResources()
      const uris = [id, other].map((each) => `document:///${each}`)
      expect(resources.map(({ uri }) => uri).toSorted()).toEqual(uris.toSorted())
      const { resourceTemplates } = await client.listResourceTemplates()
      expect(resourceTemplates).toMatchObject([{ uriTemplate: 'document:///{id}' }])
      const { contents } = await client.readResource({ uri: `document:///${id}` })
      expect(contents).toMatchObject([{ mimeType: 'text/plain', text: TEXT }])
      const lost = client.readResource({ uri: 'document:///unknown' })
      await expect(lost).rejects.toMatchObject({
        code: -32_602,
        message: expect.stringMatching('unknown'),
      })
      const tooLong = client.readResource({ uri: `document:///${'x'.repeat(200)}` })
      await expect(tooLong).rejects.toMatchObject({ code: -32_602 })
    },
  )

  it('lists documents as resources page by page, and refuses strange cursors', async () => {
    const texts = Array.from({ length: 250 }, (_, number) => ({ text: `Report ${number}.` }))
    await server.request('/documents/batch', { body: texts })
    const isReady = async () => {
      const page = await server.request('/documents?status=ready&total=true&limit=1')
      return Object(await page.json()).total
    }
    await expect.poll(isReady, { timeout: 50_000 }).toBe(250)
    for (const mode of ['auto', 'legacy'] as const) {
      const client = await connect(server, mode)
      // Without a cursor the client reads all pages.
      const { resources } = await client.listResources()
      expect(new Set(resources.map(({ uri }) => uri)).size).toBe(250)
      const list = async (cursor?: string) =>
        client.request({ method: 'resources/list', params: { ...(cursor && { cursor }) } })
      const first = await list()
      expect(first.resources).toHaveLength(200)
      const second = await list(first.nextCursor)
      expect(second.resources.map(({ uri }) => uri)).toEqual(
        resources.slice(200).map(({ uri }) => uri),
      )
      expect(second.nextCursor).toBeUndefined()
      for (const cursor of ['x', '2.x', 'x.y']) {
        await expect(list(cursor)).rejects.toMatchObject({ code: -32_602 })
      }
      // The list is of the newest 10,000: what begins its last page has no next one, however much there is.
      const few = Object(await (await server.request('/documents?status=ready&limit=10')).json())
      expect((await list(`49.${few.nextCursor}`)).nextCursor).toMatch(/^50\./)
      expect((await list(`50.${few.nextCursor}`)).nextCursor).toBeUndefined()
    }
  })

  it('offers a key what it may use, of what it may see', async () => {
    const hidden = await shared.ingest({ title: 'Hidden', text: 'Quagga.', collection: 'green' })
    const body = { name: 'Red', scopes: ['query'], collections: ['red'] }
    const made = await shared.request('/admin/keys', { body })
    const { secret } = ApiKeyCreated.parse(await made.json())
    const headers = { authorization: `Bearer ${secret}` }
    const client = await connect(shared, 'auto', { requestInit: { headers } })
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(TOOLS.slice(0, 4))
    const query = { query: 'Quagga' }
    const found = await client.callTool({ name: 'query', arguments: query })
    expect(found.structuredContent).toEqual({ hits: [] })
    for (const name of ['get_document', 'fetch']) {
      const refused = await client.callTool({ name, arguments: { id: hidden } })
      expect(textOf(refused)).toBe(`There is no document "${hidden}"`)
    }
    expect((await client.listResources()).resources).toEqual([])
    await expect(client.readResource({ uri: `document:///${hidden}` })).rejects.toThrow(hidden)
  })

  it('gives a question up when its client does', async () => {
    const upstream = await startScriptedUpstream()
    upstream.always(hangReply())
    const client = await connect(await startServer(modelAt(upstream)))
    const left = new AbortController()
    const asked = upstream.nextRequest()
    const answer = client.callTool(
      { name: 'ask', arguments: { question: 'When?' } },
      { signal: left.signal },
    )
    const request = await asked
    left.abort()
    await expect(answer).rejects.toThrow()
    await request.closed
    expect(request.disconnected).toBe(true)
  })

  it('runs the agent with its model', async () => {
    const upstream = await startScriptedUpstream()
    upstream.always(textReply('Nobody knows.'))
    const client = await connect(await startServer(modelAt(upstream)))
    const result = await client.callTool({ name: 'ask', arguments: { question: 'When?' } })
    expect(textOf(result)).toBe('Nobody knows.')
  })
})

describe('whoever calls /mcp', verifies('mcp.key', 'mcp.origin', 'mcp.serves'), () => {
  const message = { jsonrpc: '2.0', id: 1, method: 'ping' }
  const accept = 'application/json, text/event-stream'

  it('needs the key', async () => {
    const { url } = shared
    for (const method of ['GET', 'POST', 'DELETE']) {
      expect((await fetch(`${url}/mcp`, { method })).status).toBe(401)
    }
  })

  it('must not be a page of another origin', async () => {
    const { request } = await startServer({ CORS_ORIGIN: 'https://named.example' })
    const from = async (origin: string) =>
      (await request('/mcp', { body: message, headers: { origin, accept } })).status
    expect(await from('https://evil.example')).toBe(403)
    expect(await from('null')).toBe(403)
    expect(await from('https://named.example.evil.example')).toBe(403)
    expect(await from('https://named.example')).not.toBe(403)
    expect(await from('http://localhost:6274')).not.toBe(403)
  })

  it('opens no session that this server would have to keep', async () => {
    const { request } = shared
    expect((await request('/mcp', { headers: { accept } })).status).toBe(405)
    expect((await request('/mcp', { method: 'DELETE' })).status).toBe(405)
    expect((await request('/mcp', { method: 'HEAD' })).status).toBe(405)
  })
})
