/** What the API specification binds this version to, by the place that says so. */
export const SPECIFICATION = {
  'spec: what the service does': {
    'service.whole-job':
      'A client ingests a document, retrieves its chunks and chats about it on one server.',
    'service.split': 'A document is split into chunks that are retrieved one by one.',
    'agent.prompt.combined':
      "The configured prompt is combined with the server's own retrieval and tool-safety rules.",
    'agent.tools.switch': 'A built-in tool can be switched on or off; semantic search is one.',
    'agent.restart':
      'An agent configuration that is changed on disk takes effect with the next start.',
    'reference.served': 'Every server serves an interactive reference at GET /reference.',
    'contract.served': 'Every server serves a machine-readable contract at GET /openapi.json.',
  },
  'spec: server environment variables': {
    'environment.server-api-key': 'SERVER_API_KEY is the key that requests must present.',
    'environment.top-k': 'TOP_K is the default number of chunks that chat retrieves.',
    'environment.chat-api-key':
      'CHAT_API_KEY must be set and is what the chat model is asked with.',
    'environment.chat-model': 'CHAT_MODEL selects the chat model and may be absent.',
    'environment.chat-base-url':
      'CHAT_BASE_URL is where a model with the chat-completions interface is asked.',
  },
  'spec: resources, Document': {
    'document.text': 'A document has a text, a string that is required.',
    'document.title': 'A document may have a title, a string.',
    'document.url': 'A document may have a url, a string.',
  },
  'spec: resources, Hit': {
    'hit.id': 'A hit has the identifier of its chunk, a string.',
    'hit.score': 'A hit has a relevance score, a number.',
    'hit.text': 'A hit has the text of its chunk, a string.',
    'hit.title': 'A hit has the title of its document, a string.',
  },
  'spec: resources, Chat message': {
    'message.role': 'A message has a role, which is user, assistant or system.',
    'message.content': 'A message has a content, a string that is required.',
  },
  'spec: resources, Agent': {
    'agent.record': 'The agent has a name, a profile and a set of loaded tools.',
    'agent.capabilities': 'Capabilities are skills, the sandbox, MCP connections and plugins.',
  },
  'spec: states and transitions': {
    'documents.create.pending': 'The status of a new document is pending: ingestion comes later.',
  },
  'spec: endpoints': {
    'endpoint.json': 'Requests and answers are JSON where no stream is stated.',
    'endpoint.agent': 'GET /agent reads name, profile and loaded tools.',
    'endpoint.agent-tools': 'GET /agent/tools lists every loaded tool.',
    'endpoint.agent-capabilities':
      'GET /agent/capabilities lists enabled skills, sandbox, MCP connections and plugins.',
    'endpoint.chat': 'POST /chat streams a chat response.',
    'endpoint.agent-chat': 'POST /agent/chat is another path to the same streamed chat.',
    'endpoint.completions':
      'POST /v1/chat/completions speaks the chat-completions interface and streams by default.',
    'endpoint.query': 'POST /query retrieves the most relevant chunks.',
    'endpoint.documents': 'POST /documents ingests a new document.',
    'endpoint.reference': 'GET /reference is public.',
    'endpoint.openapi': 'GET /openapi.json is public.',
    'endpoint.health': 'GET /health is public.',
    'endpoint.readiness': 'GET /readiness is public.',
  },
  'spec: POST /query': {
    'query.query': 'The request has a query, a string that is required.',
    'query.top-k': 'The request may have topK, the most chunks to return.',
    'query.top-k.default': 'Without topK at most five chunks are returned.',
    'query.echo': 'The answer repeats the query.',
    'query.hits': 'The answer lists the matching chunks as hits.',
  },
  'spec: POST /documents': {
    'documents.create.id': 'The answer carries the identifier of the new document, a string.',
    'documents.create.status': 'A status, a string, accompanies the identifier.',
  },
  'spec: POST /chat': {
    'chat.messages': 'The request has messages, a list that is required.',
    'chat.top-k': 'The request may have topK, the most context chunks to retrieve.',
    'chat.top-k.default': "Without topK the server's TOP_K holds.",
    'chat.latest-message': 'What is retrieved is retrieved for the latest user message.',
    'chat.context': 'The retrieved chunks are supplied to the configured chat model.',
    'chat.streamed': 'The answer is a server-sent event stream.',
  },
  'spec: authentication': {
    'authentication.bearer':
      'Every request but the public ones needs the header Authorization: Bearer <key>.',
    'authentication.key': 'The key is the one configured as SERVER_API_KEY.',
    'authentication.public':
      '/health, /readiness, /reference and /openapi.json need no key, and nothing else is public.',
    'authentication.deployed': 'A deployed server uses the same scheme.',
  },
  'spec: events': {
    'events.only-chat': 'Only the chat stream emits events.',
    'events.data': 'Each frame carries a JSON object with a type in its data field.',
    'events.text-delta': 'text-delta carries the next fragment as text, a string.',
    'events.done': 'done carries hits, the retrieved chunks, when the answer is complete.',
    'events.error': 'error carries an error when the stream fails after it started.',
    'events.name.message': 'A text-delta frame has the event name message.',
    'events.name.done': 'A done frame has the event name done.',
    'events.concatenate': 'The fragments in their order are the answer.',
    'events.done.after': 'done comes after the last text-delta.',
  },
  'spec: versioning': {
    'versioning.paths':
      '/v1/chat/completions carries a version segment; the paths of the specification carry none else.',
  },
} as const
