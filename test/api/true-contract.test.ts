import { hash } from 'node:crypto'
import { FileBatch } from '@agent-server/compat'
import { DocumentCreated } from '@agent-server/schemas/document.ts'
import { Feedback } from '@agent-server/schemas/feedback.ts'
import { ApiKeyCreated } from '@agent-server/schemas/operator/api-key.ts'
import { RunList } from '@agent-server/schemas/operator/run.ts'
import { describe, expect, it } from 'vitest'
import { Conversation } from '../../src/dialects/conversations/schema.ts'
import { ResponseObject } from '../../src/dialects/responses/response-schema.ts'
import { verifies } from '../requirements.ts'
import { readChat } from '../support/chat-reader.ts'
import { type ContractOperation, operationsOf, readContract } from '../support/contract.ts'
import {
  COLLECTION_CALLS,
  EVALUATION_CALLS,
  FILE_CALLS,
  feedbackCalls,
  LAMP,
  MCP_CALLS,
  MESSAGES_CALLS,
  OIKB_CALLS,
  OLLAMA_CALLS,
  type OperationCall,
  PEOPLE_CALLS,
  QUERIED,
  RUN_CALLS,
} from '../support/contract-calls.ts'
import { createContractValidator } from '../support/contract-validator.ts'
import { withEvaluation } from '../support/evaluations.ts'
import { valuesOf } from '../support/json-values.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer } from '../support/server.ts'
import { startSite } from '../support/site.ts'
import { writeAgentFile } from '../support/temporary-files.ts'
import { chunk, streamReply, textReply, toolCallReply } from '../support/upstream-replies.ts'

/** Not to be called, so that no test leaves the machine. */
const PRIVATE = 'http://10.0.0.1/mcp'
const CONFIGURATION = {
  mcpServers: { refused: { url: PRIVATE }, personal: { url: PRIVATE, oauth: { per: 'person' } } },
}
const AGENT = JSON.stringify(CONFIGURATION)

const upstream = await startScriptedUpstream()
const AGENT_CONFIG = await writeAgentFile(CONFIGURATION)
const server = await startServer(modelAt(upstream, { AGENT_CONFIG, OUTBOUND_ALLOW: '127.0.0.1' }))
const id = await server.ingest({
  title: 'Owls',
  text: '# Night\n\nOwls hoot.',
  url: 'https://owl.example',
})
const site = await startSite()
site.serve('/list.txt', { body: `${site.url}/list.txt\n${site.url}/lost` })
const fetched = { url: `${site.url}/list.txt`, refresh: '1d' }
await server.request('/documents/fetched', { method: 'PUT', body: fetched })
const contract = await readContract(server)
const operations = operationsOf(contract)
const validator = createContractValidator(contract)

const messages = [{ role: 'user', content: 'Who hoots?' }]
const SEARCH = toolCallReply({ name: 'semantic_search', arguments: { query: 'owls' } })
const BROKEN = streamReply(chunk({ content: 'Half' }), { cut: true })

const { id: conversation } = Conversation.parse(
  await (await server.request('/v1/conversations', { body: {} })).json(),
)
const TALK = `/v1/conversations/${conversation}`
upstream.script(SEARCH, textReply('Owls [1].'))
const [talk] = (
  await readChat(
    await server.request('/chat', { body: { messages, conversation: { id: conversation } } }),
  )
).frames.flatMap(({ frame }) => (frame.type === 'turn-start' ? frame : []))
if (!talk) throw new Error('The turn does not start')
const ofTalk = (item: string, end = '') =>
  [item, 'unknown'].map((each) => ({ path: `${TALK}/items/${each}${end}` }))

const BATCHES = '/v1/vector_stores/vs_birds/file_batches'

/** What each operation is asked, to see every shape that it answers. */
const CALLS: Record<string, OperationCall[]> = {
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
  addSite: [{ body: { url: 'http://10.0.0.1/sitemap.xml' } }, { body: {} }, { body: fetched }],
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
  ...COLLECTION_CALLS,
  ...PEOPLE_CALLS,
  chat: [
    { body: { messages }, script: [textReply('Owls [1].')] },
    { body: { messages, includeSteps: true }, script: [SEARCH, textReply('Owls [1].')] },
    { body: { messages }, script: [BROKEN] },
    { body: { messages, conversation: { id: conversation } }, script: [textReply('Owls [1].')] },
    { body: { messages, conversation: { id: 'unknown' } } },
    { body: {} },
  ],
  agentChat: [{ body: { messages }, script: [textReply('Owls [1].')] }, { body: {} }],
  createCompletion: [{ body: { prompt: 'Who?' }, script: [textReply('Owls [1].')] }, { body: {} }],
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
  createConversation: [{ body: {} }, { body: { items: [] } }, { body: { title: '' } }],
  listConversations: [{}, { path: '/v1/conversations?after=unknown' }],
  getConversation: [{ path: TALK }, { path: '/v1/conversations/unknown' }],
  updateConversation: [
    { path: TALK, body: { metadata: { a: 'b' }, title: 'Owls' } },
    { path: TALK, body: { last_item_id: 'unknown' } },
  ],
  createConversationItems: [
    { path: `${TALK}/items`, body: { items: [{ role: 'user', content: 'Who?' }] } },
    { path: `${TALK}/items`, body: { items: [] } },
  ],
  listConversationItems: [
    { path: `${TALK}/items` },
    { path: `${TALK}/items?branches=true&order=asc` },
    { path: `${TALK}/items?after=unknown` },
  ],
  getConversationItem: ofTalk(talk.answerId),
  followAnswer: ofTalk(talk.answerId, '/events?includeSteps=true'),
  cancelAnswer: ofTalk(talk.answerId, '/cancel'),
  ...feedbackCalls(talk),
  ...EVALUATION_CALLS,
  deleteConversationItem: ofTalk(talk.questionId),
  deleteConversation: [{ path: TALK }, { path: '/v1/conversations/unknown' }],
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
  countInputTokens: [{ body: { input: 'Who hoots?' } }, { body: {} }],
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
  createVectorStore: [{ body: { name: 'birds' } }, { body: { name: 1 } }],
  getVectorStore: [{ path: '/v1/vector_stores/corpus' }, { path: '/v1/vector_stores/x' }],
  searchVectorStore: [
    { body: { query: 'owls' }, path: '/v1/vector_stores/corpus/search' },
    { body: {}, path: '/v1/vector_stores/corpus/search' },
  ],
  ...FILE_CALLS,
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
  ...MESSAGES_CALLS,
  ...OLLAMA_CALLS,
  ...OIKB_CALLS,
  getArtifact: [{ path: '/artifacts/unknown' }],
  listModels: [{}],
  getModel: [{ path: '/v1/models/agent' }, { path: '/v1/models/other' }],
  getAgent: [{}],
  listTools: [{}],
  getCapabilities: [{}],
  ...MCP_CALLS,
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
  findLocalModelServers: [{}],
  askDraftAgent: [
    { body: { text: '{}', messages }, script: [textReply('Owls [1].')] },
    { body: { text: '{}', messages: [] } },
  ],
  tryMcpConnection: [
    { body: { text: AGENT }, path: '/admin/agent/mcp/refused/test' },
    { body: { text: AGENT }, path: '/admin/agent/mcp/unknown/test' },
  ],
  trySandbox: [{ body: { text: '{"sandbox":{"type":"none"}}' } }, { body: {} }],
  trySkills: [{ body: { text: '{}' } }, { body: {} }],
  listDeploymentTargets: [{}],
  makeDeployment: [{ body: { target: 'compose' } }, { body: { target: 'unknown' } }, { body: {} }],
  listStorageUse: [{}],
  listWatchedFolders: [{}],
  listApiKeys: [{}],
  createApiKey: [{ body: { name: 'Web', scopes: ['chat'], collections: ['birds'] } }, { body: {} }],
  revokeApiKey: [{ path: '/admin/keys/KEY' }, { path: '/admin/keys/unknown' }],
  getServerState: [{}],
  ...RUN_CALLS,
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
  'retryDocument',
  'getDocumentFile',
  'getArtifact',
  'createFile',
  'createEmbeddings',
  'ollamaEmbed',
  'ollamaEmbeddings',
  'oikbUpload',
  'getAgentVersion',
  'restoreAgentVersion',
  'trySandbox',
]

/** These take nothing that could be wrong. */
const NEVER_REFUSED = ['launchServer', 'stopServer', 'restartServer']

function mayRefuse({ operationId, method, path }: (typeof operations)[number]): boolean {
  if (NEVER_REFUSED.includes(operationId ?? '')) return false
  return method !== 'GET' || path.includes('{') || QUERIED.includes(operationId ?? '')
}

describe('What the server answers', verifies('openapi.true', 'openapi.errors'), () => {
  it('is asked of every operation of the contract', () => {
    const known = operations.map(({ operationId }) => operationId)
    expect(Object.keys(CALLS).toSorted()).toEqual(known.toSorted())
  })

  it.each(Object.keys(CALLS))(
    'fits the contract: %s, in a documented status and media type',
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
      expect(statuses.some((status) => status < 300)).toBe(!NEVER_WELL.includes(operationId))
      expect(statuses.some((status) => status >= 400)).toBe(mayRefuse(operation))
    },
  )

  it('fits it, too, where no key was sent', async () => {
    for (const operation of operations.filter(({ isPublic }) => !isPublic)) {
      const { method, path } = operation
      const response = await fetch(server.url + (await fill(path)), { method })
      expect(response.status).toBe(401)
      expect(await mistakesOf(operation, response)).toEqual([])
    }
  })
})

async function fill(path: string): Promise<string> {
  if (path.includes('KEPT')) {
    upstream.script(textReply('Owls.'))
    const kept = await server.request('/v1/responses', { body: { input: 'Who hoots?' } })
    return path.replace('KEPT', ResponseObject.parse(await kept.json()).id)
  }
  if (path.endsWith('/RUN')) {
    const { runs } = RunList.parse(await (await server.request('/admin/runs')).json())
    return path.replace('RUN', runs[0]?.id ?? '')
  }
  if (path.includes('EVALUATION')) return withEvaluation(path, server)
  if (path.includes('RATED')) {
    const [rating] = feedbackCalls(talk).giveFeedback
    const rated = await server.request('/feedback', { body: rating?.body })
    return path.replace('RATED', Feedback.parse(await rated.json()).id)
  }
  if (path.includes('PERSON')) {
    await server.request('/documents', { headers: { 'agent-user': 'ada' } })
    return path.replace('PERSON', 'user:ada')
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
  // A file, of any media type.
  if (documented.content?.['*/*']) return []
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
