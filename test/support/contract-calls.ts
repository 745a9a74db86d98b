import type { ScriptedUpstream } from './scripted-upstream.ts'
import { textReply, toolCallReply } from './upstream-replies.ts'

/** One request to an operation; the model plays `script` first. */
export interface OperationCall {
  body?: unknown
  path?: string
  headers?: Record<string, string>
  script?: Parameters<ScriptedUpstream['script']>
}

export const LAMP = { type: 'function', function: { name: 'switch_lamp' } }

const QUESTION = 'Who hoots?'
const messages = [{ role: 'user', content: QUESTION }]
const CALLED = toolCallReply({ name: 'switch_lamp', arguments: {} })

export const OLLAMA_CALLS: Record<string, OperationCall[]> = {
  ollamaChat: [
    { body: { model: 'agent', messages, stream: false }, script: [textReply('Owls [1].')] },
    { body: { model: 'agent', messages, tools: [LAMP] }, script: [CALLED] },
    { body: { model: 'agent' } },
    { body: {} },
  ],
  ollamaGenerate: [
    { body: { model: 'agent', prompt: QUESTION }, script: [textReply('Owls [1].')] },
    { body: { model: 'agent', prompt: QUESTION, stream: false }, script: [textReply('Owls.')] },
    { body: {} },
  ],
  ollamaTags: [{}],
  ollamaShow: [{ body: { model: 'agent' } }, { body: { model: 'other' } }, { body: {} }],
  ollamaEmbed: [{ body: { model: 'agent', input: 'owls' } }],
  ollamaEmbeddings: [{ body: { prompt: 'owls' } }, { body: {} }],
  ollamaPs: [{}],
  ollamaVersion: [{}],
}

const SOURCE = '/api/v1/knowledge/birds'
const NO_SOURCE = '/api/v1/knowledge/-'

export const OIKB_CALLS: Record<string, OperationCall[]> = {
  oikbDiff: [
    {
      body: { manifest: [{ path: 'a/b', filename: 'owls.md', checksum: '1', size: 3 }] },
      path: `${SOURCE}/sync/diff`,
    },
    { body: {}, path: `${SOURCE}/sync/diff` },
  ],
  oikbCleanup: [
    { body: { file_ids: ['unknown'], dir_ids: ['a'] }, path: `${SOURCE}/sync/cleanup` },
    { body: { file_ids: ['chosen'] }, path: `${SOURCE}/sync/cleanup` },
  ],
  oikbCreateDirectory: [
    { body: { name: 'b', parent_id: 'a' }, path: `${SOURCE}/dirs/create` },
    { body: {}, path: `${SOURCE}/dirs/create` },
  ],
  oikbUpload: [{ body: {} }],
  oikbGetKnowledge: [{ path: SOURCE }, { path: NO_SOURCE }],
  oikbListFiles: [{ path: `${SOURCE}/files` }, { path: `${NO_SOURCE}/files` }],
  oikbReset: [{ path: `${SOURCE}/reset?include_directories=true` }, { path: `${NO_SOURCE}/reset` }],
}

const message = { model: 'agent', max_tokens: 100, messages }
const tools = [{ name: 'switch_lamp', input_schema: { type: 'object' } }]

export const MESSAGES_CALLS: Record<string, OperationCall[]> = {
  createMessage: [
    { body: message, script: [textReply('Owls [1].')] },
    { body: { ...message, stream: true }, script: [textReply('Owls [1].')] },
    { body: { ...message, tools }, script: [CALLED] },
    { body: { ...message, tools, stream: true }, script: [CALLED] },
    { body: {} },
  ],
  countMessageTokens: [{ body: { messages } }, { body: {} }],
}

const BIRDS = '/v1/vector_stores/vs_birds/files'

export const FILE_CALLS: Record<string, OperationCall[]> = {
  getFileContent: [{}, { path: '/v1/files/unknown/content' }],
  attachFile: [
    { body: { file_id: 'chosen' }, path: BIRDS },
    { body: { file_id: 'unknown' }, path: BIRDS },
  ],
  getAttachedFile: [
    { path: '/v1/vector_stores/corpus/files/chosen' },
    { path: '/v1/vector_stores/corpus/files/unknown' },
  ],
  updateAttachedFile: [
    { body: { attributes: { year: 1 } }, path: `${BIRDS}/chosen` },
    { body: {}, path: `${BIRDS}/chosen` },
  ],
  getAttachedFileContent: [
    { path: `${BIRDS}/chosen/content` },
    { path: `${BIRDS}/unknown/content` },
  ],
  detachFile: [{ path: `${BIRDS}/chosen` }, { path: `${BIRDS}/unknown` }],
  updateVectorStore: [
    { body: { name: 'gone' }, path: '/v1/vector_stores/vs_none' },
    { body: { name: 5 }, path: '/v1/vector_stores/vs_none' },
  ],
  deleteVectorStore: [{ path: '/v1/vector_stores/vs_none' }, { path: '/v1/vector_stores/corpus' }],
}

/** On an answer in a conversation. RATED is feedback on it. */
export const feedbackCalls = ({
  conversationId = '',
  answerId = '',
}: {
  conversationId?: string
  answerId?: string
} = {}) => ({
  giveFeedback: [
    { body: { conversationId, answerId, rating: 'up' } },
    { body: { answerId: 'unknown', rating: 'up' } },
    { body: {} },
  ],
  listFeedback: [{}, { path: '/feedback?cursor=unknown' }],
  exportFeedback: [{}, { path: '/feedback/export?rating=x' }],
  deleteFeedback: [{ path: '/feedback/RATED' }, { path: '/feedback/unknown' }],
})

const JUDGED = '/evaluation/questions'
const EVALUATION = '/evaluation/runs/EVALUATION'
const JUDGED_QUESTION = { question: 'Who hoots?', relevant: [{ documentId: 'chosen' }] }

/** EVALUATION is the last one. */
export const EVALUATION_CALLS = {
  createJudgedQuestion: [{ body: JUDGED_QUESTION }, { body: {} }],
  putJudgedQuestion: [
    { body: JUDGED_QUESTION, path: `${JUDGED}/owls` },
    { body: {}, path: `${JUDGED}/owls` },
  ],
  listJudgedQuestions: [{}],
  importJudgedQuestions: [{ body: [JUDGED_QUESTION] }, { body: [] }],
  exportJudgedQuestions: [{}],
  createEvaluationRun: [{ body: {} }, { body: { mode: 'fast' } }],
  listEvaluationRuns: [{}],
  getEvaluationRun: [{ path: EVALUATION }, { path: '/evaluation/runs/unknown' }],
  cancelEvaluationRun: [
    { path: `${EVALUATION}/cancel` },
    { path: '/evaluation/runs/unknown/cancel' },
  ],
  compareEvaluationRuns: [
    { path: '/evaluation/comparison?before=EVALUATION&now=EVALUATION' },
    { path: '/evaluation/comparison' },
  ],
  deleteJudgedQuestion: [{ path: `${JUDGED}/owls` }, { path: `${JUDGED}/unknown` }],
}

/** RUN is the last run. */
export const RUN_CALLS = {
  listRuns: [{}, { path: '/admin/runs?answerId=unknown' }],
  getRun: [{ path: '/admin/runs/RUN' }, { path: '/admin/runs/unknown' }],
}

export const MCP_CALLS: Record<string, OperationCall[]> = {
  mcp: [
    {
      headers: { accept: 'application/json, text/event-stream' },
      body: {
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: {
          protocolVersion: '2025-11-25',
          capabilities: {},
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
}

/** Operations that take query parameters. */
export const QUERIED = [
  'listDocuments',
  'listConversations',
  'listFeedback',
  'listAudit',
  'exportAudit',
  'exportFeedback',
  'getUsage',
  'exportUsage',
  'compareEvaluationRuns',
]

/** What the operations of people are asked, in this order. */
export const PEOPLE_CALLS: Record<string, OperationCall[]> = {
  listPeople: [{}],
  listAudit: [{}, { path: '/admin/audit?limit=0' }],
  exportAudit: [{}, { path: '/admin/audit/export?since=today' }],
  getOwnUsage: [{}],
  getUsage: [{}, { path: '/admin/usage?by=owner' }],
  exportUsage: [
    { path: '/admin/usage/export?by=day,person' },
    { path: '/admin/usage/export?by=x' },
  ],
  updatePerson: [
    { path: '/admin/people/PERSON', body: { tokensPerDay: 100_000_000 } },
    { path: '/admin/people/PERSON', body: { tokensPerDay: 0 } },
    { path: '/admin/people/user:unknown', body: {} },
  ],
  listMcpAccounts: [{}],
  connectMcpAccount: [{ path: '/agent/accounts/personal' }, { path: '/agent/accounts/unknown' }],
  disconnectMcpAccount: [
    { path: '/agent/accounts/personal' },
    { path: `/agent/accounts/personal?person=${'x'.repeat(301)}` },
  ],
  deletePerson: [{ path: '/admin/people/PERSON' }, { path: '/admin/people/user:unknown' }],
}

/** What the operations of collections are asked, in this order. */
export const COLLECTION_CALLS: Record<string, OperationCall[]> = {
  listCollections: [{}],
  createCollection: [{ body: { name: 'birds', access: ['group:staff'] } }, { body: {} }],
  getCollection: [{ path: '/collections/birds' }, { path: '/collections/unknown' }],
  patchCollection: [
    { path: '/collections/birds', body: { owners: ['user:ada'] } },
    { path: '/collections/birds', body: { owners: 'ada' } },
  ],
  deleteCollection: [{ path: '/collections/birds' }, { path: '/collections/unknown' }],
}
