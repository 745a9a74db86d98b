import { hash } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { DocumentCreated } from '../../src/schemas/document.ts'
import { FileBatch } from '../../src/schemas/openai/file-batch.ts'
import { ResponseObject } from '../../src/schemas/openai/response-object.ts'
import { ApiKeyCreated } from '../../src/schemas/operator/api-key.ts'
import { verifies } from '../requirements.ts'
import { type ContractOperation, operationsOf, readContract } from '../support/contract.ts'
import { type ContractValidator, createContractValidator } from '../support/contract-validator.ts'
import { readAllBlocks } from '../support/event-stream-reader.ts'
import { type ScriptedUpstream, startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer, type TestServer } from '../support/server.ts'
import { startSite } from '../support/site.ts'
import { chunk, streamReply, textReply, toolCallReply } from '../support/upstream-replies.ts'

let upstream: ScriptedUpstream
let server: TestServer
let operations: ContractOperation[]
let validator: ContractValidator
let id: string

beforeAll(async () => {
  upstream = await startScriptedUpstream()
  const directory = await mkdtemp(join(tmpdir(), 'agent-server-'))
  const agentFile = join(directory, 'agent.json')
  await writeFile(agentFile, AGENT)
  server = await startServer(
    modelAt(upstream, { AGENT_CONFIG: agentFile, OUTBOUND_ALLOW: '127.0.0.1' }),
  )
  id = await server.ingest({
    title: 'Owls',
    text: '# Night\n\nOwls hoot.',
    url: 'https://owl.example',
  })
  const site = await startSite()
  site.serve('/list.txt', { body: `${site.url}/list.txt\n${site.url}/lost` })
  const fetched = { url: `${site.url}/list.txt`, refresh: '1d' }
  await server.request('/documents/fetched', { method: 'PUT', body: fetched })
  CALLS.addSite?.push({ body: fetched })
  const contract = await readContract(server)
  operations = operationsOf(contract)
  validator = createContractValidator(contract)
  return async () => {
    await server.close()
    await upstream.close()
    await site.close()
    await rm(directory, { recursive: true })
  }
})

/** Not to be called, so that no test leaves the machine. */
const PRIVATE = 'http://10.0.0.1/mcp'
const AGENT = JSON.stringify({ mcpServers: { refused: { url: PRIVATE } } })

const messages = [{ role: 'user', content: 'Who hoots?' }]
const LAMP = { type: 'function', function: { name: 'switch_lamp' } }
const SEARCH = toolCallReply({ name: 'semantic_search', arguments: { query: 'owls' } })
const BROKEN = streamReply(chunk({ content: 'Half' }), { cut: true })

const BATCHES = '/v1/vector_stores/vs_birds/file_batches'

/** What each operation is asked, to see every shape that it answers; `upstream` plays these first. */
const CALLS: Record<
  string,
  {
    body?: unknown
    path?: string
    headers?: Record<string, string>
    script?: Parameters<ScriptedUpstream['script']>
  }[]
> = {
  query: [
    { body: { query: 'owls' } },
    { body: { query: 'text', filter: { field: 'year', gte: 1 } } },
    { body: { query: 'zeugma' } },
    { body: {} },
  ],
  createDocument: [
    { body: { text: 'A text.', metadata: { year: 2026, open: true } } },
    { path: '/documents?wait=20', body: { text: 'A text.' } },
    { body: { text: '' } },
  ],
  createDocuments: [{ body: [{ text: 'A text.' }, { text: 'Another.' }] }, { body: [] }],
  putDocument: [
    { body: { text: 'A text.' }, path: '/documents/chosen' },
    { body: { text: 'Another.', metadata: { year: 1 } }, path: '/documents/chosen?wait=20' },
    { body: { text: '' } },
  ],
  refreshDocument: [
    { path: '/documents/fetched/refresh' },
    {},
    { path: '/documents/unknown/refresh' },
  ],
  addSite: [{ body: { url: 'http://10.0.0.1/sitemap.xml' } }, { body: {} }],
  listChunks: [{}, { path: '/documents/unknown/chunks' }],
  listDocuments: [{}, { path: '/documents?limit=1' }, { path: '/documents?limit=0' }],
  getDocument: [{}, { path: '/documents/unknown' }],
  getDocumentText: [
    {},
    { path: '/documents/unknown/text' },
    { path: '/documents/chosen/text?start=x' },
  ],
  patchDocument: [
    { body: { metadata: { year: 2 } } },
    { path: '/documents/unknown', body: { metadata: {} } },
  ],
  deleteDocuments: [{ path: '/documents?title=unknown&dryRun=true' }, { path: '/documents' }],
  getDocumentFile: [{ path: '/documents/unknown/file' }],
  deleteDocument: [{ path: '/documents/unknown' }, { path: '/documents/DELETABLE' }],
  retryDocument: [{}, { path: '/documents/unknown/retry' }],
  chat: [
    { body: { messages }, script: [textReply('Owls [1].')] },
    { body: { messages, includeSteps: true }, script: [SEARCH, textReply('Owls [1].')] },
    { body: { messages }, script: [BROKEN] },
    { body: {} },
  ],
  agentChat: [{ body: { messages }, script: [textReply('Owls [1].')] }, { body: {} }],
  createChatCompletion: [
    { body: { messages }, script: [textReply('Owls [1].')] },
    { body: { messages, stream: false }, script: [textReply('Owls [1].')] },
    {
      body: { messages, stream_options: { include_usage: true }, tools: [LAMP] },
      script: [toolCallReply({ name: 'switch_lamp', arguments: {} })],
    },
    {
      body: { messages, stream: false, tools: [LAMP] },
      script: [toolCallReply({ name: 'switch_lamp', arguments: {} })],
    },
    { body: {} },
  ],
  createResponse: [
    { body: { input: 'Who hoots?' }, script: [SEARCH, textReply('Owls [1].')] },
    { body: { input: 'Who hoots?', stream: true }, script: [textReply('Owls [1].')] },
    {
      body: { input: 'Who hoots?', tools: [{ type: 'function', name: 'switch_lamp' }] },
      script: [toolCallReply({ name: 'switch_lamp', arguments: {} })],
    },
    { body: { input: 'Who hoots?', stream: true }, script: [BROKEN] },
    { body: {} },
  ],
  listInputItems: [
    { path: '/v1/responses/KEPT/input_items' },
    { path: '/v1/responses/unknown/input_items' },
  ],
  getResponse: [{ path: '/v1/responses/KEPT' }, { path: '/v1/responses/unknown' }],
  deleteResponse: [{ path: '/v1/responses/KEPT' }, { path: '/v1/responses/unknown' }],
  createFile: [{ body: {} }],
  listFiles: [{}],
  listAttachedFiles: [
    { path: '/v1/vector_stores/corpus/files' },
    { path: '/v1/vector_stores/corpus/files?after=unknown' },
  ],
  getFile: [{}, { path: '/v1/files/unknown' }],
  deleteFile: [{ path: '/v1/files/unknown' }, { path: '/v1/files/DELETABLE' }],
  listVectorStores: [{}],
  createVectorStore: [{ body: { name: 'birds' } }, { body: {} }],
  getVectorStore: [{ path: '/v1/vector_stores/corpus' }, { path: '/v1/vector_stores/x' }],
  searchVectorStore: [
    { body: { query: 'owls' }, path: '/v1/vector_stores/corpus/search' },
    { body: {}, path: '/v1/vector_stores/corpus/search' },
  ],
  attachFile: [
    { body: { file_id: 'chosen' }, path: '/v1/vector_stores/vs_birds/files' },
    { body: { file_id: 'unknown' }, path: '/v1/vector_stores/vs_birds/files' },
  ],
  getAttachedFile: [
    { path: '/v1/vector_stores/corpus/files/chosen' },
    { path: '/v1/vector_stores/corpus/files/unknown' },
  ],
  detachFile: [
    { path: '/v1/vector_stores/vs_birds/files/chosen' },
    { path: '/v1/vector_stores/vs_birds/files/unknown' },
  ],
  createFileBatch: [
    { body: { file_ids: ['chosen'] }, path: BATCHES },
    { body: { file_ids: ['unknown'] }, path: BATCHES },
    { body: {}, path: BATCHES },
  ],
  getFileBatch: [{ path: `${BATCHES}/BATCH` }, { path: `${BATCHES}/vsfb_unknown` }],
  listFileBatch: [{ path: `${BATCHES}/BATCH/files` }, { path: `${BATCHES}/vsfb_unknown/files` }],
  cancelFileBatch: [
    { path: `${BATCHES}/BATCH/cancel` },
    { path: `${BATCHES}/vsfb_unknown/cancel` },
  ],
  createEmbeddings: [{ body: { input: 'owls' } }],
  getArtifact: [{ path: '/artifacts/unknown' }],
  listModels: [{}],
  getModel: [{ path: '/v1/models/agent' }, { path: '/v1/models/other' }],
  getAgent: [{}],
  listTools: [{}],
  getCapabilities: [{}],
  mcp: [
    {
      headers: { accept: 'application/json, text/event-stream' },
      body: {
        ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
        params: {
          ...{ protocolVersion: '2025-11-25', capabilities: {} },
          clientInfo: { name: 'test', version: '1' },
        },
      },
    },
    { body: [] },
    { body: { jsonrpc: '2.0', id: 1, method: 'ping' } },
    {
      headers: { accept: 'application/json, text/event-stream' },
      body: { jsonrpc: '2.0', id: 1 },
    },
  ],
  reloadSkills: [{ body: {} }, { body: { source: 'unknown' } }],
  testMcpConnection: [
    { body: {}, path: '/agent/mcp/refused/test' },
    { body: { tool: 1 }, path: '/agent/mcp/refused/test' },
    { body: {}, path: '/agent/mcp/unknown/test' },
  ],
  verifySandbox: [{}, { body: 'x', headers: { 'content-type': 'text/plain' } }],
  getAgentFile: [{}],
  saveAgentFile: [
    { body: { text: AGENT, basedOn: hash('sha256', AGENT) } },
    { body: { text: '{}', basedOn: hash('sha256', '') } },
  ],
  checkAgentFile: [{ body: { text: '{' } }, { body: {} }],
  listAgentVersions: [{}],
  getAgentVersion: [{ path: `/admin/agent/versions/${hash('sha256', '')}` }],
  restoreAgentVersion: [
    {
      path: `/admin/agent/versions/${hash('sha256', '')}/restore`,
      body: { basedOn: hash('sha256', '') },
    },
  ],
  testModel: [{ body: { kind: 'chat' } }, { body: {} }],
  listProviderModels: [{ body: { kind: 'chat' } }, { body: {} }],
  tryMcpConnection: [
    { body: { text: AGENT }, path: '/admin/agent/mcp/refused/test' },
    { body: { text: AGENT }, path: '/admin/agent/mcp/unknown/test' },
  ],
  trySandbox: [{ body: { text: '{"sandbox":{"type":"none"}}' } }, { body: {} }],
  trySkills: [{ body: { text: '{}' } }, { body: {} }],
  listDeploymentTargets: [{}],
  makeDeployment: [{ body: { target: 'compose' } }, { body: { target: 'unknown' } }, { body: {} }],
  listApiKeys: [{}],
  createApiKey: [{ body: { name: 'Web', scopes: ['chat'], collections: ['birds'] } }, { body: {} }],
  revokeApiKey: [{ path: '/admin/keys/KEY' }, { path: '/admin/keys/unknown' }],
  getServerState: [{}],
  followEvents: [{ path: '/admin/events?follow=false' }],
  launchServer: [{}],
  stopServer: [{}],
  restartServer: [{}],
  getSettings: [{}],
  saveSettings: [
    { body: { basedOn: hash('sha256', ''), set: { TOP_K: '6' } } },
    { body: { basedOn: hash('sha256', ''), set: { TOP_K: '7' } } },
  ],
  health: [{}],
  readiness: [{}],
  metrics: [{}],
}

/** These would need a failed document, an uploaded file, a tool that makes one, an agent that was changed, a sandbox, or a process of its own. */
const NEVER_WELL = [
  ...['retryDocument', 'getDocumentFile', 'getArtifact', 'createFile', 'createEmbeddings'],
  ...['getAgentVersion', 'restoreAgentVersion'],
  ...['restartServer', 'launchServer', 'stopServer', 'trySandbox'],
]

describe('What the server answers', () => {
  it('is asked of every operation of the contract', verifies('openapi.true'), () => {
    const known = operations.map(({ operationId }) => operationId)
    expect(Object.keys(CALLS).toSorted()).toEqual(known.toSorted())
  })

  it.each(Object.keys(CALLS))(
    'fits the contract: %s, in a documented status and media type',
    verifies('openapi.true', 'openapi.errors'),
    async (operationId) => {
      const operation = operations.find((candidate) => candidate.operationId === operationId)
      if (!operation) throw new Error('There is no such operation')
      const statuses: number[] = []
      for (const { body, path, headers = {}, script } of CALLS[operationId] ?? []) {
        if (script) upstream.script(...script)
        const target = await fill(path ?? operation.path)
        const { method } = operation
        const options = { method, headers, ...(body !== undefined && { body }) }
        const response = await server.request(target, options)
        statuses.push(response.status)
        expect(await mistakesOf(operation, response)).toEqual([])
      }
      const refuses = operation.method !== 'GET' || operation.path.includes('{')
      expect(statuses.some((status) => status < 300)).toBe(!NEVER_WELL.includes(operationId))
      expect(statuses.some((status) => status >= 400)).toBe(
        refuses || operationId === 'listDocuments',
      )
    },
  )

  it(
    'fits it, too, where no key was sent',
    verifies('openapi.true', 'openapi.errors'),
    async () => {
      for (const operation of operations.filter(({ isPublic }) => !isPublic)) {
        const response = await fetch(server.url + (await fill(operation.path)), {
          method: operation.method,
        })
        expect(response.status).toBe(401)
        expect(await mistakesOf(operation, response)).toEqual([])
      }
    },
  )
})

async function fill(path: string): Promise<string> {
  if (path.includes('KEPT')) {
    upstream.script(textReply('Owls.'))
    const kept = await server.request('/v1/responses', { body: { input: 'Who hoots?' } })
    return path.replace('KEPT', ResponseObject.parse(await kept.json()).id)
  }
  if (path.includes('KEY')) {
    const made = await server.request('/admin/keys', { body: { name: 'Old', scopes: ['chat'] } })
    return path.replace('KEY', ApiKeyCreated.parse(await made.json()).id)
  }
  if (path.includes('BATCH')) {
    const made = await server.request(BATCHES, { body: { file_ids: [id] } })
    return path.replace('BATCH', FileBatch.parse(await made.json()).id)
  }
  if (!path.includes('DELETABLE')) return path.replace('{id}', id).replace('{model}', 'agent')
  const created = await server.request('/documents', { body: { text: 'Soon gone.' } })
  return path.replace('DELETABLE', DocumentCreated.parse(await created.json()).id)
}

async function mistakesOf(
  { method, path, responses }: ContractOperation,
  response: Response,
): Promise<string[]> {
  const status = String(response.status)
  const media = response.headers.get('content-type')?.split(';')[0] ?? ''
  const documented = responses[status]
  if (!documented) return [`${method} ${path} does not document ${status}`]
  if (status === '204') return (await response.text()) === '' ? [] : ['A 204 has a body']
  if (!documented.content?.[media])
    return [`${method} ${path} does not document ${status} ${media}`]
  const schema = [
    'paths',
    path,
    method.toLowerCase(),
    'responses',
    status,
    'content',
    media,
    'schema',
  ]
  const values = await valuesOf(response, media)
  return values.flatMap((value) => validator.mistakes(schema, value) ?? [])
}

/** Each JSON value of an answer: one, or one for each event of a stream but `[DONE]`. */
async function valuesOf(response: Response, media: string): Promise<unknown[]> {
  if (media === 'application/json') return [await response.json()]
  if (media === 'application/x-ndjson') {
    const lines = (await response.text()).trim().split('\n')
    return lines.map((line) => JSON.parse(line))
  }
  if (media !== 'text/event-stream') return [await response.text()]
  const blocks = await readAllBlocks(response)
  return blocks.filter(({ data }) => data !== '[DONE]').map(({ data }) => JSON.parse(data))
}
