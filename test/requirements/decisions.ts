/** What the specification leaves open and the design decides, by the decision. */
export const DECISIONS = {
  'design: errors': {
    'errors.envelope':
      'Every failure answers { error: { message, type, code, param, request_id } } and nothing else.',
    'errors.table': 'Each code travels with its own status and type and is documented.',
    'errors.field': 'Invalid input answers 400 and names the field.',
    'errors.challenge': 'A 401 carries WWW-Authenticate: Bearer.',
    'errors.retry-after': 'A 429, and a 503 that passes, carry Retry-After.',
    'errors.hidden': 'A 500 tells nothing of its cause.',
    'errors.request-id': 'The request id of an error is the one in x-request-id.',
    'errors.not-http':
      'What is not HTTP is answered with the envelope, too, and the socket closed.',
  },
  'design: the error frame': {
    'events.name.error': 'An error frame has the event name error and the envelope’s content.',
    'events.error.last': 'An error frame is the last frame.',
    'events.one-end': 'A stream ends with exactly one of done and error.',
  },
  'design: documents': {
    'documents.create.accepted': 'POST /documents answers 202 with the address in Location.',
    'documents.durable': 'What was acknowledged is there after a restart.',
    'documents.status': 'A document goes from pending to ready or failed.',
    'documents.ready': 'ready means that the very next query finds it.',
    'documents.failed': 'A failed document says why and how often it was tried.',
    'documents.new': 'Every POST makes a new document, also of the same text.',
    'documents.read': 'GET /documents/{id} reads the state of one document.',
    'documents.list': 'GET /documents lists documents in cursor pages, newest first.',
    'documents.list.status': 'GET /documents filters by status.',
    'documents.delete': 'DELETE /documents/{id} removes it: the very next query has no hit of it.',
    'documents.retry': 'POST /documents/{id}/retry is for failed documents only.',
    'documents.unknown': 'An unknown document answers 404.',
    'documents.chunks':
      'GET /documents/{id}/chunks lists the chunks of a document in cursor pages.',
    'documents.wait': '?wait= holds the answer back until ingestion has ended or the time is over.',
    'documents.idempotency':
      'A repeated POST with the same Idempotency-Key answers the same document.',
    'documents.idempotency.conflict': 'The same key with another document answers 409.',
    'documents.put': 'PUT /documents/{id} replaces the content, or makes the document.',
    'documents.put.id': 'An id that a client chooses fits a bounded pattern.',
    'documents.put.swap':
      'Old chunks, title and url are found until the new ones are ready, then only the new.',
    'documents.put.failed': 'A failed replacement leaves the old content found, and says so.',
    'documents.metadata': 'Flat metadata is taken at ingestion and shown on documents and hits.',
    'documents.batch': 'POST /documents/batch stores many documents, with a result for each.',
    'documents.batch.ids':
      'Each document of a batch may have an id or an idempotency key, which makes repeating it safe.',
    'documents.lines':
      'POST /documents/batch takes a stream of lines of any length, and answers each line by itself.',
    'documents.lines.order': 'The results of lines come in their order, each once it is durable.',
    'documents.lines.full': 'A stream of lines waits while the queue is full, for a bounded time.',
    'documents.lines.broken': 'Of a stream that breaks off, whole lines are stored and no others.',
    'filters.operators': 'A filter takes equality, in, ranges, and, or and not, kind by kind.',
    'filters.top-k': 'A filter, however selective, leaves the full number of hits.',
    'filters.bounds': 'A filter that is malformed, too deep or too large answers 400.',
    'filters.chat': 'A filter of /chat holds for the context and for the searches of the model.',
    'filters.completions': '/v1/chat/completions takes the same filter as an extra field.',
    'documents.queue-full': 'A queue that is full answers 429 with Retry-After.',
    'documents.queue-full.early':
      'A queue that is full refuses a large body before it is read; the connection goes on or ends in order.',
  },
  'design: files': {
    'files.types':
      'PDF, DOCX, PPTX, XLSX, CSV, HTML, Markdown, EPUB, mail, JSON, code, Parquet and text in common encodings are found by what they say.',
    'files.pages': 'A hit of a file with pages says on which page it stands.',
    'files.fields': 'title, url and metadata may come before or after the file.',
    'files.put': 'A file replaces a document as text does.',
    'files.idempotency': 'A repeated upload with the same Idempotency-Key is stored once.',
    'files.download': 'GET /documents/{id}/file answers the original as an attachment.',
    'files.bounds': 'A form that is malformed or not right answers 400 and leaves nothing.',
    'files.limit': 'A file beyond FILE_LIMIT answers 413 and leaves nothing.',
    'files.hostile':
      'A file that is broken, protected or hostile fails alone, with a reason; the server stays up.',
    'files.memory': 'A file of 200 MB raises the memory of the server by less than 100 MB.',
    'files.crash': 'A file that was acknowledged survives the end of the process at any moment.',
    'files.uploads': 'Too many uploads at the same time answer 429.',
  },
  'design: topK and hits': {
    'top-k.bounds': 'topK is an integer from 1 to 100.',
    'hits.order': 'Hits are ordered by score, best first.',
    'hits.score.documented': 'The contract says what a score means, which is from 0 to 1.',
    'query.min-score':
      'minScore leaves out hits that score lower, in every protocol; out of its range it is refused.',
    'hits.more': 'Hits carry documentId, url, start and end as well.',
    'hits.once': 'The same passage from two documents takes one place.',
    'hits.near-duplicates': 'So do passages that differ in next to nothing.',
  },
  'design: more than one machine': {
    'qdrant.serves':
      'With QDRANT_URL the index is kept in Qdrant, and every answer stays the same.',
    'qdrant.filters':
      'Qdrant answers filters by itself, exactly as the document store would; what it cannot answer, the document store does.',
    'qdrant.outage.query':
      'A Qdrant that is away, slow or broken makes queries and chats fail in bounded time, with index_unavailable.',
    'qdrant.outage.readiness': 'Readiness names the index while Qdrant does not work.',
    'qdrant.outage.ingestion':
      'Documents wait for a Qdrant that is away, without an attempt counted, and become ready by themselves.',
    'qdrant.outage.start': 'A server starts without its Qdrant, and works once that is there.',
    'qdrant.misfit': 'A collection that does not fit stops the start with the remedy.',
    'qdrant.rebuild':
      'npm run rebuild-index makes the index anew beside the one that serves, and puts it in its place.',
    'qdrant.heals':
      'Collections that are lost are made anew from the document store without a restart; meanwhile readiness names them, and words serve where vectors are lost.',
    'qdrant.replicas': 'Servers that share a Qdrant leave each other’s chunks alone.',
  },
  'design: search by meaning': {
    'hybrid.query': 'With EMBEDDING_MODEL a passage is found by its meaning, too.',
    'hybrid.explain': 'With explain each hit tells what each stage made of it.',
    'hybrid.mode':
      'mode asks for a search by words, by meaning or by both; without an embedding model only by words.',
    'hybrid.told': '/agent, /agent/capabilities and /readiness say retrieval: hybrid.',
    'hybrid.ingestion.waits':
      'An embedder that is down delays no document: words find it, and meaning later.',
    'hybrid.ingestion.refused':
      'A passage that the embedder refuses is found by words, and readiness counts it.',
    'hybrid.degraded': 'Where the embedder is down, /query and /chat say degraded: true.',
    'hybrid.degraded.readiness': 'Where the embedder is down, /readiness says so and stays 200.',
    'hybrid.query.deadline': 'An embedder that hangs does not hold up a question for long.',
    'contexts.found':
      'With CHUNK_CONTEXT=chat a passage is found by what the chat model wrote of it, which is never shown.',
    'contexts.later': 'A chat model that is down delays contexts, and no document.',
    'pictures.found':
      'With PICTURE_DESCRIPTIONS=chat a picture is found by a description that is told from text.',
    'pictures.later': 'A chat model that is down delays descriptions of pictures, and no document.',
    'pictures.refused':
      'Why the chat model does not describe pictures is told at the document and in /readiness.',
    'rerank.query': 'With RERANK_MODEL hits come in the order and with the scores of that model.',
    'rerank.chat': 'With RERANK_MODEL=chat the chat model puts the hits in order in one call.',
    'rerank.degraded':
      'Where the reranker is down, hits keep the order of the search, with degraded: true.',
    'rerank.told': '/readiness and /agent/capabilities name the reranker.',
    're-embed.refused': 'A changed model or dimension is refused at start, with the remedy named.',
    're-embed.swap': 'npm run re-embed embeds everything anew and swaps in one step.',
    're-embed.online':
      'EMBEDDING_MODEL_NEXT embeds anew while the old vectors serve; the start with that model swaps.',
    're-embed.resume':
      'A reindex that was interrupted goes on, and the old vectors stay until then.',
  },
  'design: backups': {
    'transfer.round-trip':
      'npm run backup, while the server is written to, then npm run restore into an empty directory gives the same documents, conversations, feedback, keys and agents, and embeds nothing.',
    'transfer.refused':
      'A restore is refused, and changes nothing, where there is data, a server runs or the file is damaged.',
  },
  'design: webhook': {
    'webhook.ready': 'WEBHOOK_URL is told of each document that became ready, or failed.',
    'webhook.signed': 'What it is told is signed as Standard Webhooks says.',
    'webhook.durable': 'What could not be told before a restart is told after it.',
    'webhook.guarded': 'A receiver without a public address must be named in OUTBOUND_ALLOW.',
  },
  'design: folders': {
    'ingest.folder': 'npm run ingest sends the files of a folder, each as a document of its own.',
    'ingest.resume': 'A second run sends only what is new or has changed.',
    'ingest.failed':
      'It ends with how many are ready, unchanged and failed, and why; with 1 if any failed.',
  },
  'design: chat': {
    'chat.system-prompt':
      "The system prompt is the server's rules, then the configured prompt, then the client's.",
    'chat.passages.data': 'Retrieved text is marked as data and cannot end the mark.',
    'chat.citations': '[n] in an answer cites the n-th of the hits of done.',
    'chat.citations.known':
      'What is cited and was not retrieved in the run is marked [?] and named in unknownCitations, on every chat path alike; code and links stay as they are.',
    'chat.citations.sources':
      'A source says its document, its chunk, its score and where in the document it is: span, page, or row.',
    'chat.neighbours':
      'Neighbouring chunks of a document are one passage for the model, one hit and one number.',
    'chat.history': 'History is cut from the oldest until it fits the window.',
    'chat.done.extras': 'done also carries finishReason and, where the model reports it, usage.',
    'chat.steps': 'includeSteps adds tool-call and tool-result frames with the event name message.',
    'chat.no-steps': 'Without includeSteps the stream carries only what the specification names.',
    'chat.keep-alive': 'A comment line keeps a silent stream open.',
    'chat.hang-up': 'A client that hangs up aborts the model call at once.',
    'chat.extractive': 'CHAT_MODEL=extractive answers with cited quotes, without key or network.',
    'chat.nothing-found': 'Without a matching chunk the answer says so and hits is empty.',
    'chat.concurrency': 'More chats than CHAT_CONCURRENCY answer 429.',
    'chat.tool-loop': 'The model may call semantic search; what it finds is cited like the rest.',
  },
  'design: /v1/chat/completions': {
    'completions.stream': 'It streams chunks and [DONE] unless stream is false.',
    'completions.plain':
      'With stream: false, or without stream for a client that accepts JSON alone, it answers one completion.',
    'completions.same-agent': 'It runs the very same agent as /chat.',
    'completions.server-tools': "The server's own tools are never forwarded as tool_calls.",
    'completions.client-tools': "Calls of the client's tools are returned to it as tool_calls.",
    'completions.hits': 'hits ride in an extra field, on the chunk with the finish reason.',
    'completions.usage': 'usage sums all rounds; in a stream it comes with include_usage.',
    'completions.unknown-fields': 'Unknown fields are ignored.',
    'completions.one-choice': 'More than one choice is refused.',
    'completions.error': 'A failure inside the stream is the envelope in a data line, then [DONE].',
    'completions.usage-chunk':
      'A chunk without choices comes with include_usage alone, as some clients break on it.',
    'models.list': 'GET /v1/models lists the agent.',
    'models.read': 'GET /v1/models/{model} reads the agent, and answers 404 for another name.',
  },
  'design: the loop': {
    'loop.every-tool':
      'Every built-in tool does the same on every chat path, with the same hits and files.',
    'loop.dies':
      'A model that dies ends its run with an error on every chat path, and nothing else.',
    'loop.parallel': 'The tool calls of one round run side by side.',
    'loop.mistakes': 'A call that is wrong is told to the model as a result, and the run goes on.',
    'loop.limits':
      'limits in agent.json bound rounds, tool calls, time and tokens; the last event names those that were reached.',
    'loop.providers': 'Tool calls in the known dialects of providers are understood.',
    'loop.no-tools':
      'A model that cannot call tools is found out, answers from the passages, and /agent/capabilities says so.',
    'completions.extras':
      'What a provider attaches to a call of a client’s tool goes out and comes back with it.',
  },
  'design: texts that give orders': {
    'injection.data':
      'What a document says reaches the model as data alone: in a block that it cannot close, or as the result of a tool.',
    'injection.tools': 'No tool is run but those that the model itself calls.',
  },
  'design: tables': {
    'tables.list': 'Documents that are tables are listed with columns, types and ranges.',
    'tables.query':
      'One SQL statement that reads is answered exactly, with the statement and the number of rows.',
    'tables.same': 'The answer of a table is a source to cite, on every chat path alike.',
    'tables.locked': 'A statement reaches nothing but the tables, and changes nothing.',
    'tables.filter': 'The filter of a request holds for its tables, too.',
    'tables.current': 'A replaced document is the table that it is now; a deleted one is none.',
  },
  'design: whole corpus': {
    'lookup.fields': 'The fields of the metadata are listed with their ranges.',
    'lookup.exact': 'Documents are looked up by exact values, prefixes and ranges of metadata.',
    'lookup.rows':
      'Rows of tables are looked up by exact values, prefixes and ranges of columns through an index, each a source with document and row.',
    'corpus.coverage': 'Answers about the whole corpus say how many documents they are of.',
    'corpus.question': 'A question is put to every document, and the tokens are counted.',
  },
  'design: forms': {
    'forms.filled': 'A form is filled as a file, and what is not filled is listed.',
    'forms.scripts':
      'A PDF form is drawn in the scripts that the fonts hold, and a value that would not come out right is refused.',
    'forms.sources': 'Each value has a source; what a passage does not say is not taken from it.',
  },
  'design: plugins': {
    'plugins.tools': 'A plugin in agent.json gives tools under its own name.',
    'plugins.state': 'A plugin that cannot be loaded is told of, with the reason.',
  },
  'design: many tools': {
    'tools.filter': 'No tool shows a document that the filter of the request excludes.',
    'tools.search': 'More than forty tools are found by a tool, and can be called from then on.',
  },
  'design: charts': {
    'charts.files': 'A chart comes as PNG, as SVG and as its Vega-Lite specification.',
    'charts.refused': 'A chart that cannot be drawn is told to the model, and makes no file.',
  },
  'design: artifacts': {
    'artifacts.read': 'GET /artifacts/{id} gives a file that a tool made, with its own media type.',
    'artifacts.linked': 'The link of an artifact gives it without a key, for an hour.',
    'artifacts.harmless': 'A browser keeps an artifact as a file, and gives it no rights.',
    'artifacts.told': 'done and the agent field of a completion list the artifacts of the run.',
    'artifacts.unknown': 'An unknown artifact answers 404.',
  },
  'design: conversations': {
    'conversations.bounds': 'A conversationId out of its bounds answers 400.',
  },
  'design: agent endpoints': {
    'agent.shape':
      'GET /agent is { name, profile: { description, model, retrieval, images }, tools }.',
    'agent.tools.shape':
      'Each tool has title, description, input schema, source and state in /agent/tools.',
    'agent.capabilities.true': '/agent/capabilities tells what works, retrieval: lexical included.',
    'agent.capabilities.restart':
      'restartRequired is true once the configuration on disk says something else than the one that runs.',
  },
  'design: MCP connections': {
    'mcp.namespace': 'A tool of a connection is named mcp__<connection>__<tool>.',
    'mcp.chat': 'Chat calls the tools of MCP servers like its own.',
    'mcp.transports': 'Streamable HTTP and SSE, the current protocol and the older one are spoken.',
    'mcp.test': 'POST /agent/mcp/{connection}/test goes the way of chat and reports each step.',
    'mcp.artifacts': 'Pictures and resources that a tool answers become artifacts.',
    'mcp.alone': 'A server that hangs, is dead or is no MCP server hurts nothing but itself.',
    'mcp.reconnect': 'A server that comes back is used again.',
    'mcp.guard': 'Private addresses are called only where OUTBOUND_ALLOW names them.',
    'mcp.secrets': 'Secrets come from variables and show nowhere.',
    'mcp.pins': 'A definition that changes is reported, and not used until it is accepted.',
  },
  'design: /mcp': {
    'mcp.serves': '/mcp offers query, get_document and ask to clients of both eras of MCP.',
    'mcp.key': '/mcp needs the key.',
    'mcp.origin': '/mcp refuses pages whose origin nobody named.',
  },
  'design: skills': {
    'skills.local': 'Skills are read from folders, by themselves from the one beside agent.json.',
    'skills.remote': 'Skills are read from URLs, archives, indexes and GitHub, through the guard.',
    'skills.pins':
      'A remote skill that has changed is not used until accepted; a copy stays in use.',
    'skills.reload': 'POST /agent/skills/reload reads sources of skills again.',
    'skills.catalogue':
      'Names and descriptions stand in the system prompt after the configured one.',
    'skills.disclosure': 'Instructions and resources are read when the model asks for them.',
    'skills.switch': 'agent.json names sources, and skills to use or not to use.',
    'skills.lenient': 'What departs from the format is warned of; what cannot be used says why.',
    'skills.allowed-tools':
      'What a skill says of allowed tools neither forbids others nor lifts an approval.',
  },
  'design: the sandbox': {
    'sandbox.tool': 'The tool run_python runs the model’s code in the sandbox that is configured.',
    'sandbox.conversation':
      'Variables and files stay for the runs of one conversation, and are seen by no other.',
    'sandbox.artifacts':
      'Files that code writes become artifacts, and artifacts can be given to code as files.',
    'sandbox.documents': 'The file of a document is given to code by the id of the document.',
    'sandbox.verify': 'POST /agent/sandbox/verify probes the sandbox the way the tool uses it.',
    'sandbox.verify.shown': 'The last verification is shown by /agent/capabilities.',
    'sandbox.reason': 'A sandbox that does not work says why, and what can be done.',
    'sandbox.off': 'Where the sandbox is off, verify answers 503 and run_python is not offered.',
  },
  'design: operations': {
    'health.live': '/health answers 200 whatever the state of the parts.',
    'readiness.parts':
      '/readiness asks store, index and agent, and answers 200 or 503 naming them.',
    'readiness.lexical': '/readiness says retrieval: lexical.',
    'metrics.key': '/metrics is Prometheus text behind the key.',
    'metrics.timings': 'The metrics time requests, ingestion, retrieval and model runs.',
    'shutdown.refuse': 'A server that stops answers new requests 503.',
    'shutdown.streams': 'An open stream may finish, or ends with an error frame after the grace.',
  },
  'design: HTTP': {
    'http.body-limit': 'A body larger than BODY_LIMIT answers 413.',
    'http.media-type': 'A body that is not JSON answers 415.',
    'http.request-id': 'A request id is echoed where the caller sent a proper one, made otherwise.',
    'http.cors': 'CORS_ORIGIN lets browsers of these origins call, and no others.',
    'http.headers': 'Every answer carries the headers that protect a browser.',
    'http.unknown-route': 'An unknown path or method answers 404, to those with a key.',
    'http.slow': 'A request that does not arrive in time is answered 408 and let go.',
  },
  'design: contract': {
    'openapi.valid': 'The document is valid OpenAPI 3.1.',
    'openapi.operations': 'Every operation has a unique operationId, a summary, and tags.',
    'openapi.descriptions': 'Every parameter and every field has a description.',
    'openapi.examples': 'Every request body has an example.',
    'openapi.bounds': 'Every string of a request has a bound.',
    'openapi.errors': 'Every operation behind the key documents the errors it can answer.',
    'openapi.security': 'The bearer key is the security scheme, lifted where a path is public.',
    'openapi.completions': '/v1/chat/completions documents both of its media types.',
    'openapi.true': 'What the server answers fits the schema that the document gives.',
    'openapi.codes': 'Every error code stands in the document.',
    'reference.offline': '/reference needs nothing from elsewhere and can try requests with a key.',
  },
  'design: input': {
    'input.unknown-fields': 'Unknown fields are ignored.',
    'input.types': 'Wrong types and missing or empty values answer 400 and change nothing.',
    'input.text': 'Lone surrogates and NULs are replaced, not refused.',
    'input.depth': 'Deep JSON is answered as any other.',
    'input.bytes': 'Broken bodies, encodings and lengths answer 4xx and change nothing.',
    'input.vanishing': 'A client that vanishes at any point leaves nothing open.',
  },
  'design: upstream failures': {
    'upstream.status': 'A failure before the first token is a status: 429, 502 or 504 by its kind.',
    'upstream.frame': 'A failure after the first token is the error frame.',
    'upstream.idle': 'A model that stays silent for CHAT_IDLE_TIMEOUT is given up.',
    'upstream.retry': 'Only what fails before the first token is tried again.',
    'upstream.incomplete': 'An answer that ends early is a failure, not an answer.',
    'upstream.secret': "The model's key never appears in an answer.",
  },
} as const
