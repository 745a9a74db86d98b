import type { RequestOptions } from '../server.ts'
import type { TrueDocument } from './truth.ts'

/** A request, and what its answer must say to somebody who may read, or change, the document. */
export interface RightsCall extends RequestOptions {
  path?: string
  /** Only whoever may read it finds its word in the answer; undefined if the answer names no document. */
  shows?: true
  /** Refused by `not_permitted` to who only reads it, and as if it did not exist to who does not. */
  changes?: true
  /** How often the short form asks: the agent takes long. */
  isSlow?: true
}

const user = (word: string) => [{ role: 'user', content: `Who is the keeper ${word}?` }]
const mcp = (method: string, params: object): RightsCall => ({
  path: '/mcp',
  body: { jsonrpc: '2.0', id: 1, method, params },
  headers: { accept: 'application/json, text/event-stream' },
})
const tool = (name: string, input: object) => mcp('tools/call', { name, arguments: input })

/** What is asked about a document. An operation that is not here is asked by its path, with an empty body. */
export const CALLS: Record<string, (document: TrueDocument) => RightsCall[]> = {
  query: ({ word }) => [
    { body: { query: word }, shows: true },
    { body: { query: `gannets ${word}`, topK: 50 }, shows: true },
    { body: { query: 'gannets', filter: { field: 'keeper', eq: word } }, shows: true },
    { body: { query: word, explain: true }, shows: true },
  ],
  getDocument: () => [{ shows: true }],
  getDocumentText: () => [{ shows: true }],
  listChunks: () => [{ shows: true }],
  listDocuments: ({ word, collection = 'default' }) => [
    { path: `/documents?title=${word}&total=true`, shows: true },
    { path: `/documents?collection=${collection}&title=${word}`, shows: true },
    {
      path: `/documents?filter=${encodeURIComponent(JSON.stringify({ field: 'keeper', eq: word }))}`,
      shows: true,
    },
    { path: '/documents?limit=100&sort=title' },
  ],
  patchDocument: () => [
    { body: { metadata: {} }, changes: true },
    { body: { access: ['public'], expected: { title: 'Other' } }, changes: true },
  ],
  deleteDocument: () => [{ changes: true }],
  deleteFile: () => [{ changes: true }],
  retryDocument: () => [{ changes: true }],
  refreshDocument: () => [{ changes: true }],
  putDocument: ({ word }) => [{ path: `/documents/${word}`, body: { text: '' } }],
  deleteDocuments: ({ word }) => [{ path: `/documents?title=${word}&dryRun=true` }],
  getFile: () => [{ shows: true }],
  getFileContent: () => [{ shows: true }],
  listFiles: () => [{ path: '/v1/files?limit=10000' }],
  getAttachedFile: ({ id }) => [{ path: `/v1/vector_stores/corpus/files/${id}`, shows: true }],
  getAttachedFileContent: ({ id }) => [
    { path: `/v1/vector_stores/corpus/files/${id}/content`, shows: true },
  ],
  updateAttachedFile: ({ id }) => [
    { path: `/v1/vector_stores/corpus/files/${id}`, body: { attributes: {} }, changes: true },
  ],
  detachFile: ({ id }) => [{ path: `/v1/vector_stores/corpus/files/${id}` }],
  getDocumentFile: ({ word }) => [{ path: `/documents/${word}/file` }],
  getCollection: ({ collection = 'default' }) => [{ path: `/collections/${collection}` }],
  oikbListFiles: ({ collection = 'default' }) => [
    { path: `/api/v1/knowledge/${collection}/files?limit=100` },
  ],
  oikbCleanup: ({ collection = 'default', word }) => [
    {
      path: `/api/v1/knowledge/${collection}/sync/cleanup`,
      body: { file_ids: [word], directory_ids: [] },
    },
  ],
  listAttachedFiles: () => [{ path: '/v1/vector_stores/corpus/files?limit=100' }],
  searchVectorStore: ({ word }) => [
    { path: '/v1/vector_stores/corpus/search', body: { query: word }, shows: true },
  ],
  chat: ({ word }) => [{ body: { messages: user(word) }, shows: true, isSlow: true }],
  agentChat: ({ word }) => [{ body: { messages: user(word) }, shows: true, isSlow: true }],
  createChatCompletion: ({ word }) => [
    { body: { messages: user(word), stream: false }, shows: true, isSlow: true },
  ],
  createResponse: ({ word }) => [
    { body: { input: `Who is ${word}?`, stream: false }, shows: true, isSlow: true },
  ],
  ollamaChat: ({ word }) => [
    { body: { model: 'agent', messages: user(word), stream: false }, shows: true, isSlow: true },
  ],
  ollamaGenerate: ({ word }) => [
    { body: { model: 'agent', prompt: `Who is ${word}?`, stream: false }, isSlow: true },
  ],
  createMessage: ({ word }) => [
    { body: { model: 'agent', max_tokens: 99, messages: user(word) }, shows: true, isSlow: true },
  ],
  mcp: ({ word, id }) => [
    { ...tool('query', { query: word }), shows: true },
    { ...tool('search', { query: word }), shows: true },
    { ...tool('fetch', { id }), shows: true },
    { ...tool('get_document', { id }), shows: true },
    mcp('resources/list', {}),
    { ...mcp('resources/read', { uri: `document://${id}` }) },
  ],
  // A stream that ends with the request.
  followEvents: () => [],
}
