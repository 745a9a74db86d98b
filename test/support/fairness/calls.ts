import type { ContractOperation } from '../contract.ts'
import type { RequestOptions } from '../server.ts'

/** What somebody has that requests are about. */
export interface Belongings {
  /** Asks for as much as there is, rather than for a little. */
  isWide: boolean
  document: string
  file: string
  title: string
  conversation: string
  /** A conversation with an answer. */
  answered: string
  answer: string
  response: string
  artifact: string
  /** What is sent to be kept. */
  text: string
}

export interface FairCall extends RequestOptions {
  path?: string
  /** Sent as a form with the file `notes.md`. */
  upload?: string
}

type Calls = Record<string, (of: Belongings) => FairCall>

const question = 'Who hoots at night?'
const messages = [{ role: 'user', content: question }]
const mcp = (method: string, params: object): FairCall => ({
  path: '/mcp',
  body: { jsonrpc: '2.0', id: 1, method, params },
  headers: { accept: 'application/json, text/event-stream' },
})
const EVERYONE = { not: { field: 'keeper', eq: 'nobody' } }
const WIDE = `filter=${encodeURIComponent(JSON.stringify(EVERYONE))}`
const most = ({ isWide }: Belongings, limit: number) => (isWide ? limit : 1)
const TODAY = new Date().toISOString()
const STORE = '/v1/vector_stores/corpus'

/** What is asked of each operation. One that is not here is asked by its path, with the ids of what somebody has. */
export const CALLS: Calls = {
  query: ({ isWide }) => ({
    body: { query: question, ...(isWide && { topK: 50, filter: EVERYONE }) },
  }),
  createDocument: ({ text, title }) => ({ path: '/documents?wait=20', body: { title, text } }),
  putDocument: ({ text, title, document }) => ({
    path: `/documents/${document}?wait=20`,
    body: { title, text },
  }),
  createDocuments: ({ text }) => ({ body: { documents: [{ title: 'Of many', text }] } }),
  listDocuments: (of) => ({
    path: of.isWide ? `/documents?limit=100&total=true&${WIDE}` : '/documents?limit=1',
  }),
  deleteDocuments: () => ({ path: `/documents?title=never&dryRun=true&${WIDE}` }),
  patchDocument: () => ({ body: { metadata: { keeper: 'Ada' } } }),
  addSite: () => ({ body: { url: 'http://127.0.0.1:9/sitemap.xml' } }),
  createCollection: ({ title }) => ({ body: { name: title } }),
  patchCollection: () => ({ body: {} }),
  deleteCollection: () => ({ path: '/collections/none' }),
  chat: () => ({ body: { messages } }),
  agentChat: () => ({ body: { messages } }),
  createConversation: () => ({ body: {} }),
  updateConversation: () => ({ body: { metadata: {} } }),
  listConversations: (of) => ({
    path: `/v1/conversations?search=hoot&limit=${most(of, 100)}`,
  }),
  createConversationItems: ({ text }) => ({
    body: { items: [{ type: 'message', role: 'user', content: text }] },
  }),
  listConversationItems: (of) => ({
    path: `/v1/conversations/${of.conversation}/items?limit=${most(of, 100)}`,
  }),
  getConversationItem: ({ answered, answer }) => ({
    path: `/v1/conversations/${answered}/items/${answer}`,
  }),
  giveFeedback: ({ answered, answer }) => ({
    body: { conversationId: answered, answerId: answer, rating: 'up' },
  }),
  listFeedback: () => ({ path: '/feedback?limit=100' }),
  createChatCompletion: () => ({ body: { messages } }),
  createCompletion: () => ({ body: { model: 'agent', prompt: question } }),
  createResponse: ({ text }) => ({ body: { input: `${question} ${text.slice(0, 50_000)}` } }),
  countInputTokens: ({ text }) => ({ body: { input: text } }),
  createFile: ({ text }) => ({ upload: text }),
  listFiles: (of) => ({ path: `/v1/files?limit=${most(of, 10_000)}` }),
  createVectorStore: ({ title }) => ({ body: { name: title } }),
  searchVectorStore: () => ({ path: `${STORE}/search`, body: { query: question } }),
  attachFile: ({ file }) => ({ body: { file_id: file } }),
  updateAttachedFile: () => ({ body: { attributes: { keeper: 'Ada' } } }),
  listAttachedFiles: () => ({ path: `${STORE}/files?limit=100` }),
  createFileBatch: ({ file }) => ({ body: { file_ids: [file] } }),
  createMessage: () => ({ body: { model: 'agent', max_tokens: 100, messages } }),
  countMessageTokens: ({ text }) => ({ body: { messages: [{ role: 'user', content: text }] } }),
  ollamaShow: () => ({ body: { model: 'agent' } }),
  ollamaChat: () => ({ body: { model: 'agent', messages, stream: false } }),
  ollamaGenerate: () => ({ body: { model: 'agent', prompt: question, stream: false } }),
  oikbDiff: () => ({
    body: {
      manifest: Array.from({ length: 1_000 }, (_, at) => ({
        path: '',
        filename: `${at}.md`,
        checksum: String(at),
        size: 3,
      })),
    },
  }),
  oikbCleanup: () => ({ body: { file_ids: ['unknown'], dir_ids: [] } }),
  oikbCreateDirectory: () => ({ body: { name: 'b' } }),
  oikbReset: () => ({ path: '/api/v1/knowledge/none/reset' }),
  oikbUpload: ({ text }) => ({ upload: text }),
  createJudgedQuestion: ({ document }) => ({
    body: { question, relevant: [{ documentId: document }] },
  }),
  putJudgedQuestion: ({ document }) => ({
    body: { question, relevant: [{ documentId: document }] },
  }),
  importJudgedQuestions: ({ document }) => ({
    body: Array.from({ length: 100 }, (_, at) => ({
      question: `${question} ${at}`,
      relevant: [{ documentId: document }],
    })),
  }),
  createEvaluationRun: () => ({ body: {} }),
  mcp: () => mcp('tools/call', { name: 'query', arguments: { query: question } }),
  followEvents: () => ({ path: '/admin/events?follow=false' }),
  listRuns: () => ({ path: '/admin/runs?limit=100' }),
  createApiKey: ({ title }) => ({ body: { name: title, scopes: ['query'] } }),
  getUsage: (of) => ({ path: `/admin/usage?by=person&limit=${most(of, 1_000)}` }),
  exportUsage: ({ isWide }) => ({
    path: `/admin/usage/export?by=day${isWide ? ',person' : '&person=user:1'}`,
  }),
  listAudit: (of) => ({ path: of.isWide ? '/admin/audit?target=none' : '/admin/audit?limit=1' }),
  exportAudit: (of) => ({
    path: `/admin/audit/export?${of.isWide ? 'action=read' : `since=${TODAY}`}`,
  }),
  updatePerson: () => ({ path: '/admin/people/user:ada', body: {} }),
  checkAgentFile: () => ({ body: {} }),
  testModel: () => ({ body: { model: 'chat' } }),
  listProviderModels: () => ({ body: {} }),
  askDraftAgent: () => ({ body: { agent: {}, messages } }),
  trySandbox: () => ({ body: { agent: {} } }),
  trySkills: () => ({ body: { agent: {} } }),
  makeDeployment: () => ({ body: { target: 'docker-compose' } }),
  connectMcpAccount: () => ({ path: '/agent/accounts/personal' }),
}

/** What would end or change the server itself, or the greedy one's own key. */
export const OF_THE_SERVER = [
  'saveSettings',
  'saveAgentFile',
  'restoreAgentVersion',
  'stopServer',
  'restartServer',
  'launchServer',
  'deletePerson',
]

/** The path of an operation, with the ids of what somebody has. */
export function pathOf({ path }: ContractOperation, of: Belongings): string {
  const ids: [RegExp, string][] = [
    [/^\/v1\/files\/\{id\}/, of.file],
    [/^\/v1\/conversations\/\{id\}/, of.conversation],
    [/^\/v1\/responses\/\{id\}/, of.response],
    [/^\/artifacts\/\{id\}/, of.artifact],
    [/^\/api\/v1\/knowledge\/\{id\}/, 'default'],
    [/\/files\/\{id\}/, of.file],
    [/\{id\}/, of.document],
  ]
  const [, id = ''] = ids.find(([pattern]) => pattern.test(path)) ?? []
  const names: Record<string, string> = {
    id,
    item: of.answer,
    store: 'corpus',
    name: 'default',
    model: 'agent',
  }
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(names[name] ?? 'x'))
}
