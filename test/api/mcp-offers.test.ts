import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { ApiKeyCreated } from '@agent-server/schemas/operator/api-key.ts'
import { AuditPage } from '@agent-server/schemas/operator/audit.ts'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as OlderTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { describe, expect, it, onTestFinished } from 'vitest'
import { folderOf, skillText } from '../agent/skills/skill-for-test.ts'
import { onlyLong } from '../support/long.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, requester, settledDocument, startServer, TEST_KEY } from '../support/server.ts'
import { startSite } from '../support/site.ts'
import { temporaryDirectory } from '../support/temporary-files.ts'
import { textReply, toolCallReply } from '../support/upstream-replies.ts'

const INFO = { name: 'test', version: '1.0.0' }
const folder = await folderOf({
  'agent.json': JSON.stringify({
    agents: { legal: { description: 'Knows the law', skills: [] }, closed: { access: ['user:x'] } },
  }),
  'skills/constructor/SKILL.md': skillText(
    { name: 'constructor', description: 'Builds houses' },
    'Build things.',
  ),
  'skills/constructor/references/rules.md': 'Measure twice.',
  'skills/constructor/big.bin': '\u0000'.repeat(50_000),
})
const upstream = await startScriptedUpstream()
const server = await startServer(
  modelAt(upstream, { AGENT_CONFIG: `${folder}/agent.json`, OUTBOUND_ALLOW: '127.0.0.1' }),
)

const withKey = (key: string, more: Record<string, string> = {}) => ({
  requestInit: { headers: { authorization: `Bearer ${key}`, ...more } },
})

async function connect(
  key = TEST_KEY,
  options: ConstructorParameters<typeof Client>[1] = {},
  headers: Record<string, string> = {},
  { url: at } = server,
) {
  const client = new Client(INFO, { versionNegotiation: { mode: 'auto' }, ...options })
  const url = new URL(`${at}/mcp`)
  await client.connect(new StreamableHTTPClientTransport(url, withKey(key, headers)))
  onTestFinished(() => client.close())
  return client
}

async function connectOlder() {
  const client = new OlderClient(INFO)
  await client.connect(new OlderTransport(new URL(`${server.url}/mcp`), withKey(TEST_KEY)))
  onTestFinished(() => client.close())
  return client
}

async function keyWith(fields: object): Promise<{ id: string; secret: string }> {
  const made = await server.request('/admin/keys', { body: { name: 'One', ...fields } })
  return ApiKeyCreated.parse(await made.json())
}

async function audit(query: Record<string, string>) {
  const log = await server.request(`/admin/audit?${new URLSearchParams(query)}`)
  return AuditPage.parse(await log.json()).entries.map(
    ({ number: _number, at: _at, who: _who, ...entry }) => entry,
  )
}

describe('add_document', () => {
  const add = async (client: Client, input: Record<string, unknown>) => {
    const result = await client.callTool({ name: 'add_document', arguments: input })
    return { ...result, document: Object(result.structuredContent) }
  }

  it('adds what can then be found, and the same only once', async () => {
    const client = await connect()
    const input = { title: 'Hours', text: 'The zoo opens at eight.', wait: 30 }
    const { document } = await add(client, input)
    expect(document).toMatchObject({ status: 'ready' })
    expect((await add(client, input)).document.id).toBe(document.id)
    const other = await add(client, { ...input, title: 'Other hours' })
    expect(other.document.id).not.toBe(document.id)
    const key = { idempotencyKey: 'one', text: 'Kept.' }
    const kept = await add(client, key)
    expect((await add(client, key)).document.id).toBe(kept.document.id)
    const conflict = await add(client, { ...key, text: 'Another.' })
    expect(conflict).toMatchObject({ isError: true })
    const found = await client.callTool({ name: 'query', arguments: { query: 'zoo' } })
    expect(JSON.stringify(found.structuredContent)).toContain(document.id)
  })

  it.each([
    ['what is stored', { text: 'The aviary is closed.', title: 'Aviary', metadata: { year: 2 } }],
    ['what is refused as invalid', { text: '' }],
    ['what is refused as not allowed', { text: 'Elsewhere.', collection: 'green' }],
  ])('is in the audit log as POST /documents is: %s', async (_case, body) => {
    const fields = { scopes: ['ingest'], collections: ['red'] }
    const [overMcp, overHttp] = [await keyWith(fields), await keyWith(fields)]
    await add(await connect(overMcp.secret), body)
    await requester(server.url, overHttp.secret)('/documents', { body })
    const [entry, ...more] = await audit({ who: `key:${overHttp.id}` })
    expect(more).toEqual([])
    expect(entry).toMatchObject({ action: 'createDocument', address: '127.0.0.1' })
    const { id } = Object(entry?.targets)
    const targets = { ...entry?.targets, ...(id !== undefined && { id: expect.any(String) }) }
    expect(await audit({ who: `key:${overMcp.id}` })).toEqual([{ ...entry, targets }])
  })

  it('refuses fields that it does not know, by their names, and stores nothing', async () => {
    const made = await keyWith({ scopes: ['ingest', 'query'] })
    const client = await connect(made.secret)
    const input = { text: 'A quokka for the few.', collections: ['hr'], wait: 30 }
    const refused = await add(client, input)
    expect(refused).toMatchObject({ isError: true })
    expect(JSON.stringify(refused.content)).toContain('has unknown fields: collections')
    expect(await audit({ who: `key:${made.id}` })).toMatchObject([
      {
        action: 'createDocument',
        status: 400,
        targets: { fields: ['text', 'collections', 'wait'] },
      },
    ])
    const found = await client.callTool({ name: 'query', arguments: { query: 'quokka' } })
    expect(JSON.stringify(found)).not.toContain('for the few')
  })

  it('fetches a URL each time, unless the call has a key', async () => {
    const site = await startSite()
    site.serve('/news', { body: '<p>The wombat is asleep.</p>' })
    const client = await connect()
    const input = { url: `${site.url}/news`, wait: 30 }
    await add(client, input)
    const { document: kept } = await add(client, { ...input, idempotencyKey: 'news' })
    site.serve('/news', { body: '<p>The wombat is awake.</p>' })
    const { document } = await add(client, input)
    const text = await client.callTool({ name: 'get_document', arguments: { id: document.id } })
    expect(JSON.stringify(text.content)).toContain('awake')
    const again = await add(client, { ...input, idempotencyKey: 'news' })
    expect(again.document.id).toBe(kept.id)
  })

  it('reads a document again that was added before and has failed', onlyLong, async () => {
    const directory = await temporaryDirectory()
    const idle = await startServer({ DATA_DIR: directory }, { begin: false })
    const input = { text: 'The numbat eats termites.' }
    const { document } = await add(await connect(TEST_KEY, {}, {}, idle), input)
    await idle.close()
    const database = new DatabaseSync(join(directory, 'agent-server.db'))
    database.prepare('UPDATE documents SET attempts = 5').run()
    database.close()
    const next = await startServer({ DATA_DIR: directory })
    expect(await settledDocument(next.request, document.id)).toMatchObject({ status: 'failed' })
    const again = await add(await connect(TEST_KEY, {}, {}, next), { ...input, wait: 30 })
    expect(again.document).toMatchObject({ id: document.id, status: 'ready' })
  })

  it('is offered to a key that may add documents, and to no other', async () => {
    const names = async (scopes: string[]) => {
      const client = await connect((await keyWith({ scopes })).secret)
      return (await client.listTools()).tools.map(({ name }) => name)
    }
    expect(await names(['ingest'])).toEqual(['add_document'])
    expect(await names(['query', 'chat'])).not.toContain('add_document')
    const client = await connect((await keyWith({ scopes: ['query'] })).secret)
    await expect(add(client, { text: 'Not mine.' })).rejects.toThrow()
  })

  it('is the only tool that says it changes something: every other leaves no entry', async () => {
    const client = await connect()
    const { tools } = await client.listTools()
    const changing = tools.filter(({ annotations }) => !annotations?.readOnlyHint)
    expect(changing.map(({ name }) => name)).toEqual(['add_document'])
    const before = (await audit({})).length
    upstream.script(textReply('Nobody knows.'))
    for (const { name } of tools.filter((tool) => !changing.includes(tool))) {
      const input = { query: 'zoo', question: 'zoo?', id: 'unknown' }
      await client.callTool({ name, arguments: input })
    }
    expect((await audit({})).length).toBe(before)
  })
})

describe('a skill', () => {
  it('is a prompt, with its text files and what it is to be used for', async () => {
    for (const client of [await connect(), await connectOlder()]) {
      const { prompts } = await client.listPrompts()
      expect(prompts).toMatchObject([
        { name: 'constructor', arguments: [{ name: 'question' }, { name: 'collection' }] },
      ])
      const { messages } = await client.getPrompt({ name: 'constructor' })
      expect(messages).toMatchObject([
        { role: 'user', content: { type: 'text', text: expect.stringContaining('Build things.') } },
        {
          content: {
            type: 'resource',
            resource: { uri: 'skill:///constructor/references/rules.md', text: 'Measure twice.' },
          },
        },
      ])
      expect(JSON.stringify(messages)).toContain('not here: big.bin')
      const input = { question: 'A house?', collection: 'houses' }
      const asked = await client.getPrompt({ name: 'constructor', arguments: input })
      expect(JSON.stringify(asked.messages[0])).toMatch(/Search the collection .*A house\?/)
      const refused = [
        client.getPrompt({ name: 'toString' }),
        client.getPrompt({ name: 'constructor', arguments: { collection: 'a/b?' } }),
      ]
      for (const each of refused) await expect(each).rejects.toMatchObject({ code: -32_602 })
    }
  })

  it('is for who may ask the agent alone', async () => {
    const client = await connect((await keyWith({ scopes: ['query'] })).secret)
    expect(client.getServerCapabilities()?.prompts).toBeUndefined()
  })
})

describe('completion', () => {
  it('knows the collections and documents that the caller sees', async () => {
    const red = await server.ingest({ title: 'Red Book', text: 'Red.', collection: 'red' })
    const green = await server.ingest({ title: 'Green Book', text: 'Green.', collection: 'green' })
    const prompt = { type: 'ref/prompt', name: 'constructor' } as const
    const document = { type: 'ref/resource', uri: 'document:///{id}' } as const
    const mine = await keyWith({ scopes: ['query', 'chat'], collections: ['red'] })
    const clients = [await connect(), await connectOlder(), await connect(mine.secret)]
    for (const [index, client] of clients.entries()) {
      const complete = async (ref: typeof prompt | typeof document, name: string, value: string) =>
        (await client.complete({ ref, argument: { name, value } })).completion.values
      const isMine = index === 2
      expect(await complete(prompt, 'collection', 'GRE')).toEqual(isMine ? [] : ['green'])
      expect(await complete(prompt, 'collection', 're')).toEqual(['red'])
      expect(await complete(prompt, 'question', '')).toEqual([])
      expect(await complete(document, 'id', 'red b')).toEqual([red])
      expect(await complete(document, 'id', green)).toEqual(isMine ? [] : [green])
      for (const ref of [
        { ...prompt, name: 'toString' },
        { ...document, uri: 'x:///{id}' },
      ]) {
        await expect(complete(ref as typeof prompt, 'id', '')).rejects.toMatchObject({
          code: -32_602,
        })
      }
    }
  })
})

describe('a completion that fails', () => {
  it('tells the client nothing of the store', async () => {
    const directory = await temporaryDirectory()
    const broken = await startServer({ DATA_DIR: directory })
    const client = await connect(TEST_KEY, {}, {}, broken)
    const database = new DatabaseSync(join(directory, 'agent-server.db'), { timeout: 30_000 })
    database.exec('ALTER TABLE documents RENAME TO lost')
    database.close()
    const ref = { type: 'ref/resource', uri: 'document:///{id}' } as const
    const failure = client.complete({ ref, argument: { name: 'id', value: 'a' } })
    await expect(failure).rejects.toThrow('The request failed; see the server log')
    await expect(failure).rejects.toMatchObject({ code: -32_603 })
  })
})

describe('ask', () => {
  it('tells what it does while it does it, to who asks for that', async () => {
    for (const client of [await connect(), await connectOlder()]) {
      upstream.script(
        toolCallReply({ name: 'activate_skill', arguments: { name: 'constructor' } }),
        textReply('It is so.'),
      )
      const seen: { progress: number; message?: string | undefined }[] = []
      const onprogress = (each: (typeof seen)[number]) => void seen.push(each)
      const question = { name: 'ask', arguments: { question: 'What is a zoo?' } }
      const result =
        client instanceof OlderClient
          ? await client.callTool(question, undefined, { onprogress })
          : await client.callTool(question, { onprogress })
      expect(JSON.stringify(result)).toContain('It is so.')
      const messages = seen.map(({ message }) => message)
      expect(messages).toEqual(expect.arrayContaining(['Using activate_skill', 'Answering']))
      expect(messages[0]).toMatch(/^Searched for: What is a zoo/)
      const steps = seen.map(({ progress }) => progress)
      expect(steps).toEqual(steps.toSorted((a, b) => a - b))
      expect(new Set(steps).size).toBe(steps.length)
    }
  })

  it('lets one of the further agents answer, of those that the caller may use', async () => {
    const { secret } = await keyWith({ scopes: ['chat', 'act-as'] })
    const client = await connect(secret, {}, { 'agent-user': 'eve' })
    const { tools } = await client.listTools()
    expect(JSON.stringify(tools)).not.toContain('closed')
    upstream.script(textReply('By law.'))
    const asked = await client.callTool({
      name: 'ask',
      arguments: { question: 'May I?', agent: 'legal' },
    })
    expect(JSON.stringify(asked)).toContain('By law.')
    const closed = { question: 'May I?', agent: 'closed' }
    expect(await client.callTool({ name: 'ask', arguments: closed })).toMatchObject({
      isError: true,
    })
  })
})

describe('whoever listens', () => {
  it('is told of other prompts and agents when the configuration changes, and of skills read again', async () => {
    const seen: string[] = []
    const note = (kind: string) => ({ autoRefresh: false, onChanged: () => void seen.push(kind) })
    await connect(TEST_KEY, { listChanged: { prompts: note('prompts'), tools: note('tools') } })
    await server.request('/agent/skills/reload', { body: {} })
    await expect.poll(() => seen.toSorted()).toEqual(['prompts', 'tools'])
    const { digest } = Object(await (await server.request('/admin/agent')).json())
    const text = JSON.stringify({ agents: { legal: {}, other: {} } })
    const saved = await server.request('/admin/agent', {
      method: 'PUT',
      body: { text, basedOn: digest },
    })
    expect(saved.status).toBe(200)
    await expect.poll(() => new Set(seen.slice(2)).size).toBe(2)
    const { tools } = await (await connect()).listTools()
    expect(JSON.stringify(tools.find(({ name }) => name === 'ask'))).toContain('"other"')
  })
})
