import { AgentRecord } from '@agent-server/schemas/agent.ts'
import { AgentFile } from '@agent-server/schemas/operator/admin.ts'
import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { ask, complete } from '../support/chat-reader.ts'
import { failureOf } from '../support/failure.ts'
import { modelRequest, promptOf } from '../support/model-request.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer } from '../support/server.ts'
import { writeAgentFile } from '../support/temporary-files.ts'
import { textReply } from '../support/upstream-replies.ts'

const ASKED = { messages: [{ role: 'user', content: 'Is it open?' }] }
const QUESTION = { ...ASKED, stream: false }
const ModelList = z.object({ data: z.array(z.object({ id: z.string() })) })

const AGENT = {
  name: 'desk',
  prompt: 'You work at the desk.',
  agents: {
    writer: { description: 'Writes letters.', prompt: 'You write letters.', model: 'large-model' },
    counter: { tools: ['tabular_data'] },
    office: { prompt: 'You work for the office.', access: ['group:office', 'user:ada'] },
  },
}
const upstream = await startScriptedUpstream()
const server = await startServer(
  modelAt(upstream, { AGENT_CONFIG: await writeAgentFile(AGENT), EMBEDDING_MODEL: 'none' }),
)

/** What the model was sent last for a question with these fields. */
async function sentFor(fields: Record<string, unknown>) {
  upstream.script(textReply('Yes.'))
  expect((await ask(server, 'Is it open?', fields)).answer).toBe('Yes.')
  return upstream.requests.at(-1)
}
const toolsOf = (request: Parameters<typeof modelRequest>[0]) =>
  modelRequest(request).tools.map(({ function: { name } }) => name)

describe('An agent of the configuration, besides its own', () => {
  it('answers with its prompt and its model', async () => {
    const [own, writer] = [await sentFor({}), await sentFor({ agent: 'writer' })]
    expect(promptOf(own, 'system')).toContain('You work at the desk.')
    expect(promptOf(writer, 'system')).toContain('You write letters.')
    expect(promptOf(writer, 'system')).not.toContain('at the desk')
    expect(modelRequest(writer).model).toBe('large-model')
    expect(modelRequest(own).model).not.toBe('large-model')
  })

  it('has only the tools that it names, and the file’s prompt if it has none', async () => {
    const [own, counter] = [await sentFor({}), await sentFor({ agent: 'counter' })]
    expect(promptOf(counter, 'system')).toContain('You work at the desk.')
    expect(toolsOf(own)).toContain('semantic_search')
    expect(toolsOf(counter)).toContain('query_table')
    expect(toolsOf(counter)).not.toContain('semantic_search')
  })

  it('is a model in other protocols, alone and over a collection', async () => {
    const list = ModelList.parse(await (await server.request('/v1/models')).json())
    const names = list.data.map(({ id }) => id)
    expect(names).toEqual(expect.arrayContaining(['desk', 'writer', 'counter']))
    for (const model of ['writer', 'writer:handbook']) {
      upstream.script(textReply('Yes.'))
      const { model: name } = await complete(server, 'Is it open?', { model })
      expect(name).toBe('writer')
      expect(promptOf(upstream.requests.at(-1), 'system')).toContain('You write letters.')
    }
  })

  it.each<[string, object]>([
    ['/v1/completions', { prompt: 'Is it open?' }],
    ['/v1/responses', { input: 'Is it open?' }],
    ['/v1/messages', { ...ASKED, max_tokens: 99 }],
  ])('is the model that an answer of %s names', async (path, body) => {
    for (const model of ['writer', 'desk']) {
      upstream.script(textReply('Yes.'))
      const response = await server.request(path, { body: { ...body, model } })
      expect(await response.json()).toMatchObject({ model })
    }
  })

  it('is listed with what it is for', async () => {
    const record = AgentRecord.parse(await (await server.request('/agent')).json())
    expect(record.agents).toEqual([
      { name: 'writer', description: 'Writes letters.' },
      { name: 'counter' },
      { name: 'office' },
    ])
  })

  it('does not exist under another name', async () => {
    const body = { ...ASKED, agent: 'editor' }
    const failure = await failureOf(await server.request('/chat', { body }))
    expect(failure).toMatchObject({ status: 404, code: 'model_not_found', param: 'agent' })
  })
})

describe('An agent for some people', () => {
  const groups = (...names: string[]) => ({ 'agent-user-groups': names.join(', ') })
  const askAs = (headers: Record<string, string>, body: object) =>
    server.request('/v1/chat/completions', { headers, body: { ...QUESTION, ...body } })

  it.each([
    ['of a group', { 'agent-user': 'eve', ...groups('sales', 'office') }],
    ['by their id', { 'agent-user': 'ada' }],
  ])('answers those %s, and is listed to them', async (_case, headers) => {
    upstream.script(textReply('Yes.'))
    expect((await askAs(headers, { model: 'office' })).status).toBe(200)
    expect(promptOf(upstream.requests.at(-1), 'system')).toContain('You work for the office.')
    const list = await (await server.request('/v1/models', { headers })).text()
    expect(list).toContain('"office"')
  })

  it('is to others as if there were none', async () => {
    const headers = { 'agent-user': 'eve', ...groups('sales') }
    const [refused, unknown] = [
      await failureOf(
        await server.request('/chat', { headers, body: { ...ASKED, agent: 'office' } }),
      ),
      await failureOf(
        await server.request('/chat', { headers, body: { ...ASKED, agent: 'offices' } }),
      ),
    ]
    expect(refused.message).toBe('There is no agent "office"')
    expect(unknown).toMatchObject({ status: refused.status, code: refused.code })
    expect(await (await server.request('/v1/models', { headers })).text()).not.toContain('office')
    expect(await (await server.request('/agent', { headers })).text()).not.toContain('office')
  })
})

describe('The model of an agent over a collection', () => {
  const modelAs = (headers: Record<string, string>, id: string) =>
    server.request(`/v1/models/${encodeURIComponent(id)}`, { headers })
  const showAs = (headers: Record<string, string>, model: string) =>
    server.request('/api/show', { headers, body: { model } })
  const [member, other] = [
    { 'agent-user': 'ada' },
    { 'agent-user': 'eve', 'agent-user-groups': 'sales' },
  ]
  beforeAll(async () => {
    const text = 'The library opens at nine.'
    const body = { title: 'Hours', text, collection: 'handbook', access: ['public'] }
    expect((await server.request('/documents?wait=20', { body })).status).toBe(200)
  })

  it.each([
    ['desk', 'writer', 'writer:handbook', 'office', 'office:handbook', 'desk:handbook'],
    ['desk-plain'],
  ])('is found, in the protocols of OpenAI and of Ollama: %s', async (...ids) => {
    for (const id of ids) {
      expect(await (await modelAs(member, id)).json()).toMatchObject({ id, object: 'model' })
      expect((await showAs(member, id)).status).toBe(200)
    }
  })

  it.each([
    'writer:cellar',
    'writer:',
    'editor:handbook',
    'office:handbook',
    'office',
    'desk-plain:handbook',
    'writer:handbook:x',
  ])('is not where it cannot be used: %s', async (id) => {
    const failure = await failureOf(await modelAs(other, id))
    expect(failure).toMatchObject({ status: 404, code: 'model_not_found' })
    expect(failure.message).toBe(
      `There is no model "${id}". GET /v1/models lists those that you may use.`,
    )
    expect((await showAs(other, id)).status).toBe(404)
  })
})

describe('A configuration', () => {
  it.each([
    [
      'has an agent with the name of its own',
      { name: 'desk', agents: { desk: {} } },
      'agents.desk',
    ],
    [
      'names a connection that it lacks',
      { agents: { a: { mcpServers: ['crm'] } } },
      'agents.a.mcp',
    ],
    ['names a plugin that it lacks', { agents: { a: { plugins: ['crm'] } } }, 'agents.a.plugins.0'],
    ['names a tool that there is not', { agents: { a: { tools: ['crm'] } } }, 'agents.a.tools.0'],
    ['has a name that no model can have', { agents: { 'a b': {} } }, 'agents'],
    ['gives access to nobody', { agents: { a: { access: ['everybody'] } } }, 'agents.a.access.0'],
  ])('is refused if it %s', async (_case, agent, field) => {
    const { digest: basedOn } = AgentFile.parse(await (await server.request('/admin/agent')).json())
    const body = { text: JSON.stringify(agent), basedOn }
    const failure = await failureOf(await server.request('/admin/agent', { method: 'PUT', body }))
    expect(JSON.stringify(failure)).toContain(field)
    expect(failure).toMatchObject({ status: 400 })
  })
})
