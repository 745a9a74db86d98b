// Generated from /openapi.json by `npm run client:types`; a test compares the two. Do not edit.

export interface paths {
    "/admin/agent": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the agent configuration as it stands on disk
         * @description With every mistake in it, the prompt that the model would be given, and what differs from the configuration that runs.
         */
        get: operations["getAgentFile"];
        /**
         * Replace the agent configuration
         * @description Checked first: with a mistake nothing is written. What was there is kept, see `GET /admin/agent/versions`. It takes effect with a restart.
         */
        put: operations["saveAgentFile"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/agent/check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Look for mistakes in an agent configuration, and save nothing */
        post: operations["checkAgentFile"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/agent/mcp/{connection}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Connect to an MCP server of a configuration that need not be saved
         * @description As `POST /agent/mcp/{connection}/test`; nothing that it offers is accepted.
         */
        post: operations["tryMcpConnection"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/agent/sandbox/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Verify the sandbox of a configuration that need not be saved
         * @description As `POST /agent/sandbox/verify`.
         */
        post: operations["trySandbox"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/agent/skills/check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Read the skills of a configuration that need not be saved
         * @description With the warnings of each; nothing that is read is accepted.
         */
        post: operations["trySkills"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/agent/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the last ten versions of the agent configuration that were replaced */
        get: operations["listAgentVersions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/agent/versions/{digest}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read an earlier version of the agent configuration */
        get: operations["getAgentVersion"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/agent/versions/{digest}/restore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Save an earlier version of the agent configuration again
         * @description As `PUT /admin/agent` with its text.
         */
        post: operations["restoreAgentVersion"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/deploy": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the places that this agent can be deployed to */
        get: operations["listDeploymentTargets"];
        put?: never;
        /**
         * Make what brings this agent to a place to run
         * @description As `npm run deploy`, of the settings and the agent configuration on disk; writes nothing. What cannot work there is told in `refusals`, with status 200.
         */
        post: operations["makeDeployment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Follow the log, the requests and the runs of this server
         * @description Server-sent events, without names: first what is kept (the last 1,000 lines of the log, of which requests and runs have events of their own, and a sample of the metrics for every ten seconds of the last hour), then what happens. See `ActivityFrame`; leave room for further types. At most 16 follow at once.
         */
        get: operations["followEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the keys beside the SERVER_API_KEY
         * @description With what each may do and when it was used last; never the key itself.
         */
        get: operations["listApiKeys"];
        put?: never;
        /**
         * Make a key that may less than the SERVER_API_KEY
         * @description Shown in this answer and never again. A key with `admin` makes narrower ones alone: without `admin`, within its own scopes, limits and time; they go with it when it is revoked.
         */
        post: operations["createApiKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/keys/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke a key, and those that it made
         * @description The very next request is refused; other servers on the same database refuse it within two seconds.
         */
        delete: operations["revokeApiKey"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/launch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Launch a server that is stopped, or whose start failed
         * @description As `POST /admin/restart`, which it is for a server that runs.
         */
        post: operations["launchServer"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/models/list": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** List the models that a model’s server says it has */
        post: operations["listProviderModels"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/models/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ask a model through the very path that chat and search take
         * @description With the settings as they are on disk, and as `set` and `clear` would change them. What fails is told in `error`, with status 200.
         */
        post: operations["testModel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/restart": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Restart the server in its place
         * @description Checked first: what would not start again is refused, and the server goes on. Then open streams get SHUTDOWN_GRACE to finish, other requests are answered 503 `shutting_down`, and a new server takes the place of this one under the same process id.
         */
        post: operations["restartServer"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/server": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Whether a restart is needed, and for what */
        get: operations["getServerState"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/settings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read every variable: what it means, its value, and where that comes from
         * @description Of a secret never the value.
         */
        get: operations["getSettings"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Set and clear variables in the file .env
         * @description Checked as a whole first: with a mistake nothing is written. Comments and order stay. What the environment itself sets is refused by name. It takes effect with a restart.
         */
        patch: operations["saveSettings"];
        trace?: never;
    };
    "/admin/stop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Stop the server until it is launched again
         * @description Open streams get SHUTDOWN_GRACE to finish. Then the public paths and `/admin` answer, and everything else is 503 `not_launched`, until `POST /admin/launch` or another start of the process.
         */
        post: operations["stopServer"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agent": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the agent’s name, profile and loaded tools */
        get: operations["getAgent"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agent/capabilities": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List skills, sandbox, MCP connections and plugins
         * @description What works at this moment, not what is configured.
         */
        get: operations["getCapabilities"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agent/chat": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Stream an answer with citations
         * @description Server-sent events: `text-delta` frames (event `message`), then one `done` (event `done`) or one `error` (event `error`). See `ChatFrame`.
         */
        post: operations["agentChat"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agent/mcp/{connection}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Connect to an MCP server as chat does, and report each step
         * @description Lists the tools of the server, calls one of them where asked to, and accepts new or changed definitions with `accept`. Works for a connection that is not enabled yet, too. What fails is a step that is not `ok`, not an error.
         */
        post: operations["testMcpConnection"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agent/sandbox/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Try what the sandbox must do, and what it must prevent
         * @description Runs real code the way the tool `run_python` does: a computation, a file in and out, then attempts on the environment, the server’s files, the network, memory and time. Takes some seconds. What fails is a probe that is not `ok`, with a remedy, not an error; the last report is shown by `GET /agent/capabilities`.
         */
        post: operations["verifySandbox"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agent/skills/reload": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Read the sources of skills again
         * @description A remote source whose content has changed since it was accepted is used only with `accept`; until then the copy that was accepted stays.
         */
        post: operations["reloadSkills"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agent/tools": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List every loaded tool */
        get: operations["listTools"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/artifacts/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a file that a tool made
         * @description Its path is the `url` of an artifact in `done` or in the `agent` field; its `link` needs no key.
         */
        get: operations["getArtifact"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/chat": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Stream an answer with citations
         * @description Server-sent events: `text-delta` frames (event `message`), then one `done` (event `done`) or one `error` (event `error`). See `ChatFrame`.
         */
        post: operations["chat"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/documents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List documents: by metadata, title and status, in the order of your choice */
        get: operations["listDocuments"];
        put?: never;
        /**
         * Ingest a new document into the corpus
         * @description Answers once the document is durable; ingestion goes on in the background. `GET` the address in `Location` until its status is `ready` or `failed`, or let the answer `wait` for it. With `url` and without `text` the page or file there is fetched first: what cannot be had is answered at once.
         */
        post: operations["createDocument"];
        /**
         * Delete all documents that a selection takes
         * @description Ask with `dryRun=true` how many there are, then send their number as `confirm`: if there are more or fewer by then, it answers 409 and nothing is deleted. What is deleted is so from the very next query on; who leaves early keeps the rest.
         */
        delete: operations["deleteDocuments"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/documents/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a document’s state */
        get: operations["getDocument"];
        /**
         * Replace a document, or ingest it under an id of your own
         * @description Answers once the document is durable; ingestion goes on in the background. `GET` the address in `Location` until its status is `ready` or `failed`, or let the answer `wait` for it. Until then, and if ingestion fails, queries find the earlier content; then they find the new content alone.
         */
        put: operations["putDocument"];
        post?: never;
        /**
         * Delete a document and its chunks
         * @description The very next query no longer finds it.
         */
        delete: operations["deleteDocument"];
        options?: never;
        head?: never;
        /**
         * Change metadata of a document without ingesting it again
         * @description The very next query filters by it. A replacement that is under way keeps the change.
         */
        patch: operations["patchDocument"];
        trace?: never;
    };
    "/documents/{id}/chunks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the chunks of a document
         * @description Of the revision that queries find; none before the document is first ready.
         */
        get: operations["listChunks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/documents/{id}/file": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Download the file that a document was sent as
         * @description The one that queries find; before the document is first ready, the newest.
         */
        get: operations["getDocumentFile"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/documents/{id}/refresh": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Fetch a document again from its web address
         * @description What has not changed is not ingested again: `revision` stays. What cannot be had answers `fetch_failed` and leaves the document as it was; `source` tells it, too.
         */
        post: operations["refreshDocument"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/documents/{id}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Ingest a failed document again */
        post: operations["retryDocument"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/documents/{id}/text": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the text of a document, or a part of it
         * @description The text that was sent, or read out of the file, of the revision that queries find: `start` and `end` of hits and chunks are offsets into it. Of a file that was read in parts, white space between chunks may come as line breaks.
         */
        get: operations["getDocumentText"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/documents/batch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ingest many new documents at once
         * @description As `application/json` it takes a list, and answers once what could be stored is durable. A document out of its bounds refuses the whole batch, naming its place; one that finds the queue or the disk full fails alone.
         *
         *     As `application/x-ndjson` it takes a stream of documents, one per line, of any length, and answers a stream of results, one per line, each as soon as its document is durable. A line out of its bounds fails alone. While the queue is full the stream waits; a line that waits too long answers `queue_full`: send it again later. Who breaks off keeps what was answered.
         */
        post: operations["createDocuments"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/documents/sitemap": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ingest the pages that a sitemap names
         * @description Each page of the sitemap’s own host becomes a document. Answers a line for each as it is stored; who breaks off keeps what was answered. Sent again it fetches the pages again, and adds new ones.
         */
        post: operations["addSite"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Whether the process answers */
        get: operations["health"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mcp": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Speak the Model Context Protocol, over streamable HTTP
         * @description The documents and the agent for editors and assistants: the tools `query`, `get_document`, `search`, `fetch` and `ask`, and documents as resources; a key is offered what its scopes allow. See docs/mcp.md.
         */
        post: operations["mcp"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Metrics for Prometheus */
        get: operations["metrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/query": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Retrieve the most relevant chunks for a query */
        post: operations["query"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/readiness": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Whether every part of the server works
         * @description Without the SERVER_API_KEY it may be a second old, and names no number of documents.
         */
        get: operations["readiness"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/chat/completions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Chat through the chat-completions interface
         * @description Streams unless `stream` is false, or is left out by a client whose `Accept` header names JSON alone. The server’s own tools run inside; `agent.hits` holds what `[n]` cites.
         */
        post: operations["createChatCompletion"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/embeddings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Make vectors with the embedding model of the server
         * @description Refused where there is none: see `EMBEDDING_MODEL`.
         */
        post: operations["createEmbeddings"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/files": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List documents as files */
        get: operations["listFiles"];
        put?: never;
        /**
         * Upload a file as a document
         * @description As `POST /documents` with a form; ingestion goes on in the background.
         */
        post: operations["createFile"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/files/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a document as a file */
        get: operations["getFile"];
        put?: never;
        post?: never;
        /** Delete a document */
        delete: operations["deleteFile"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/models": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the agent as a model */
        get: operations["listModels"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/models/{model}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the agent as a model */
        get: operations["getModel"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/responses": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Chat through the Responses interface
         * @description The same agent as in chat completions. Its searches are `file_search_call` items, its citations `file_citation` annotations; calls of the client’s functions end the response. What cannot be followed is refused by name.
         */
        post: operations["createResponse"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/responses/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a response that was kept */
        get: operations["getResponse"];
        put?: never;
        post?: never;
        /**
         * Delete a response that was kept
         * @description What went on from it keeps what was said until then.
         */
        delete: operations["deleteResponse"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/responses/{id}/input_items": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List what a kept response answered
         * @description Its input, after all that was said before it.
         */
        get: operations["listInputItems"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/vector_stores": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the corpus and each collection as vector stores */
        get: operations["listVectorStores"];
        put?: never;
        /**
         * Name a collection as a vector store
         * @description It is there as soon as it is named; documents are put into it as its files.
         */
        post: operations["createVectorStore"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/vector_stores/{store}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a collection as a vector store */
        get: operations["getVectorStore"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/vector_stores/{store}/file_batches": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Put several documents into a collection
         * @description None is, where one of them does not exist. Attributes become metadata.
         */
        post: operations["createFileBatch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/vector_stores/{store}/file_batches/{batch}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read how the ingestion of a batch goes */
        get: operations["getFileBatch"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/vector_stores/{store}/file_batches/{batch}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Take those of a batch out of the collection that are not ready yet */
        post: operations["cancelFileBatch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/vector_stores/{store}/file_batches/{batch}/files": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the files of a batch */
        get: operations["listFileBatch"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/vector_stores/{store}/files": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the files of a vector store */
        get: operations["listAttachedFiles"];
        put?: never;
        /**
         * Put a document into a collection
         * @description It leaves the one it was in. Attributes become metadata.
         */
        post: operations["attachFile"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/vector_stores/{store}/files/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read how the ingestion of a file goes */
        get: operations["getAttachedFile"];
        put?: never;
        post?: never;
        /** Take a document out of a collection */
        delete: operations["detachFile"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/vector_stores/{store}/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Retrieve passages from a vector store
         * @description As `POST /query`, within the collection.
         */
        post: operations["searchVectorStore"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        ActivityEvent: components["schemas"]["LogEvent"] | components["schemas"]["RequestEvent"] | components["schemas"]["RunEvent"] | components["schemas"]["SampleEvent"];
        /** @description The JSON object of each server-sent event. */
        ActivityFrame: components["schemas"]["ActivityEvent"] | components["schemas"]["ErrorFrame"];
        Agent: {
            name: string;
            profile: {
                description: string;
                model: string;
                /** @enum {string} */
                retrieval: "lexical" | "hybrid";
            };
            tools: {
                name: string;
                source: string;
            }[];
        };
        AgentCheck: {
            /** @description What the text says, with every default. Absent where it is not valid. */
            configuration?: {
                [key: string]: unknown;
            };
            /** @description Every mistake, at its field. */
            mistakes: components["schemas"]["Mistake"][];
            /** @description With the prompt of the configuration, where it is valid. */
            prompt: {
                /** @description The whole system message that the model would be given. */
                assembled: string;
                /** @description What it tells of the skills at this moment. */
                catalogue: string;
                /** @description What the server itself tells the model, always first. */
                rules: string;
            };
            valid: boolean;
        };
        /** @description Extension: the retrieved chunks; `[n]` in the answer cites the n-th of them. */
        AgentExtra: {
            approval?: components["schemas"]["Approval"];
            /** @description The files that tools made in the run. Absent where there are none. */
            artifacts?: components["schemas"]["Artifact"][];
            /**
             * @description A model that the search asks did not answer, or the vectors are lost: without the embedding model or the vectors it goes by words alone, without the reranking model hits keep their first order, without the chat model a follow-up is searched for together with the questions before it. In `/readiness` also where ingestion stands still. Absent otherwise.
             * @constant
             */
            degraded?: true;
            /** @enum {string} */
            finishReason: "stop" | "length" | "content_filter" | "tool_calls" | "round_limit" | "call_limit" | "time_limit" | "token_limit" | "approval_required";
            hits: components["schemas"]["Hit"][];
            /** @description The limits of `agent.json` that kept the run from something: a tool call, or the rest of the answer. Absent otherwise. */
            limitsReached?: ("rounds" | "toolCalls" | "seconds" | "tokens")[];
            /** @description The question that the model made of the conversation, and that chunks were retrieved for. Absent where the last message was searched for as it stands. */
            searchedFor?: string;
            /** @description Numbers that the model cited and no hit of the run has. In the answer `[?]` stands in their place. Absent where there are none. */
            unknownCitations?: number[];
        };
        AgentFile: {
            /** @description What the text says, with every default. Absent where it is not valid. */
            configuration?: {
                [key: string]: unknown;
            };
            /** @description SHA-256 of the text, in hexadecimal digits. */
            digest: string;
            /** @description Whether there is a file; without one the agent has the defaults. */
            found: boolean;
            /** @description Every mistake, at its field. */
            mistakes: components["schemas"]["Mistake"][];
            /** @description AGENT_CONFIG. */
            path: string;
            /** @description With the prompt of the configuration, where it is valid. */
            prompt: {
                /** @description The whole system message that the model would be given. */
                assembled: string;
                /** @description What it tells of the skills at this moment. */
                catalogue: string;
                /** @description What the server itself tells the model, always first. */
                rules: string;
            };
            /** @description The fields that differ from the configuration that runs, until a restart. */
            restartFields: string[];
            /** @description As it stands on disk; empty where there is no file. */
            text: string;
            valid: boolean;
        };
        /**
         * @example {
         *       "basedOn": "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
         *     }
         */
        AgentRestore: {
            /** @description The `digest` of what this was based on. Where the file says something else by now, nothing is saved: `changed_meanwhile`. */
            basedOn: string;
        };
        /**
         * @example {
         *       "text": "{ \"prompt\": \"Answer briefly.\" }",
         *       "basedOn": "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
         *     }
         */
        AgentSave: {
            /** @description The `digest` of what this was based on. Where the file says something else by now, nothing is saved: `changed_meanwhile`. */
            basedOn: string;
            /** @description The whole configuration, as JSON. */
            text: string;
        };
        AgentSaved: {
            /** @description The fields that say something else than before. */
            changed: string[];
            file: components["schemas"]["AgentFile"];
        };
        /**
         * @example {
         *       "text": "{ \"prompt\": \"Answer briefly.\" }"
         *     }
         */
        AgentText: {
            /** @description The whole configuration, as JSON. */
            text: string;
        };
        AgentVersion: {
            /** @description SHA-256 of the text, in hexadecimal digits. */
            digest: string;
            text: string;
        };
        AgentVersions: {
            /** @description What the file said before, latest first. */
            versions: {
                /** @description SHA-256 of the text, in hexadecimal digits. */
                digest: string;
                /** Format: date-time */
                replacedAt: string;
            }[];
        };
        ApiKey: {
            /** @description The only ones that it sees and writes into; all where absent. Not with `admin`. */
            collections?: string[];
            /** Format: date-time */
            createdAt: string;
            /** @description The id of the key that made it; else the master key. */
            createdBy?: string;
            /**
             * Format: date-time
             * @description From then on it is refused.
             */
            expiresAt?: string;
            /** @description As the log names it; no secret. */
            id: string;
            /**
             * Format: date-time
             * @description To within some seconds.
             */
            lastUsedAt?: string;
            /** @description What the key is for, as the log and the screen name it. */
            name: string;
            /** @description On each server; no bound of its own where absent. */
            requestsPerMinute?: number;
            /** @description What it may do. query: search and read documents; chat: ask the agent; ingest: add, change and delete documents; admin: run the server. */
            scopes: ("query" | "chat" | "ingest" | "admin")[];
            /** @description Of models, sent and received, by a day of UTC, on all servers together; the last call may go past it. */
            tokensPerDay?: number;
            /** @description Of the day of UTC; a few seconds old. */
            tokensToday: number;
        };
        ApiKeyCreated: {
            /** @description The only ones that it sees and writes into; all where absent. Not with `admin`. */
            collections?: string[];
            /** Format: date-time */
            createdAt: string;
            /** @description The id of the key that made it; else the master key. */
            createdBy?: string;
            /**
             * Format: date-time
             * @description From then on it is refused.
             */
            expiresAt?: string;
            /** @description As the log names it; no secret. */
            id: string;
            /**
             * Format: date-time
             * @description To within some seconds.
             */
            lastUsedAt?: string;
            /** @description What the key is for, as the log and the screen name it. */
            name: string;
            /** @description On each server; no bound of its own where absent. */
            requestsPerMinute?: number;
            /** @description What it may do. query: search and read documents; chat: ask the agent; ingest: add, change and delete documents; admin: run the server. */
            scopes: ("query" | "chat" | "ingest" | "admin")[];
            /** @description The key itself, as it is sent: shown this once, kept nowhere. */
            secret: string;
            /** @description Of models, sent and received, by a day of UTC, on all servers together; the last call may go past it. */
            tokensPerDay?: number;
            /** @description Of the day of UTC; a few seconds old. */
            tokensToday: number;
        };
        ApiKeyList: {
            keys: components["schemas"]["ApiKey"][];
        };
        /** @description Calls of tools, at least one of which waits for the client: it sends the same request again with `resume`. */
        Approval: {
            /** @description The calls of this round; none of them has run. */
            calls: {
                callId: string;
                input: unknown;
                tool: string;
            }[];
            /** @description To be sent back in `resume`, within a day. */
            state: string;
        };
        /** @description The model calls a tool that waits for the client: nothing has run, and `done` follows with `approval_required`. The same request with `resume` goes on. */
        ApprovalRequiredFrame: {
            /** @description The calls of this round; none of them has run. */
            calls: {
                callId: string;
                input: unknown;
                tool: string;
            }[];
            /** @description To be sent back in `resume`, within a day. */
            state: string;
            /** @constant */
            type: "approval-required";
        };
        /**
         * @description A file that a tool made.
         * @example {
         *       "id": "art_0198c5f28f2e7c1b9d580c9f5f0f4a11",
         *       "name": "sales.png",
         *       "mediaType": "image/png",
         *       "size": 6021,
         *       "url": "/artifacts/art_0198c5f28f2e7c1b9d580c9f5f0f4a11",
         *       "expiresAt": "2026-11-28T09:30:00.000Z"
         *     }
         */
        Artifact: {
            /**
             * Format: date-time
             * @description From then on it is gone; earlier, where newer artifacts need the room.
             */
            expiresAt: string;
            id: string;
            /** @description Path of this server that gives the file to whoever has it, without a key, for an hour. */
            link?: string;
            mediaType: string;
            /** @description A file name without folders. */
            name: string;
            /** @description In bytes. */
            size: number;
            /** @description Path of this server, behind the key. */
            url: string;
        };
        /** @description This one was not stored: send it again. */
        BatchFailure: {
            error: components["schemas"]["DocumentError"];
        };
        Capabilities: {
            chat: {
                model: string;
                /** @description Whether the chat model calls tools. */
                tools: boolean;
            };
            /** @description Makes the vectors by which meaning is searched. */
            embedder: {
                /**
                 * @description `builtin`: in a process of this server.
                 * @enum {string}
                 */
                kind?: "builtin" | "remote";
                /** @description Chunks that words find and meaning does not find yet; more in `/readiness`. */
                missing?: number;
                model?: string;
                reason?: string;
                /**
                 * @description `off` by configuration; `unavailable` although wanted, see `reason`.
                 * @enum {string}
                 */
                state: "on" | "off" | "unavailable";
            };
            mcp: {
                name: string;
                /** @description Revision of the protocol. */
                protocol?: string;
                reason?: string;
                /**
                 * @description `off` by configuration; `unavailable` although wanted, see `reason`.
                 * @enum {string}
                 */
                state: "on" | "off" | "unavailable";
                /** @description How many of its tools can be used. */
                tools?: number;
                /** @enum {string} */
                transport?: "streamable-http" | "sse";
                /** @description As configured, variables not filled in. */
                url: string;
                /** @description Tools that are new or changed since they were accepted, and cannot be used: see `POST /agent/mcp/{connection}/test`. */
                waiting?: string[];
            }[];
            plugins: {
                name: string;
                reason?: string;
                /**
                 * @description `off` by configuration; `unavailable` although wanted, see `reason`.
                 * @enum {string}
                 */
                state: "on" | "off" | "unavailable";
            }[];
            /** @description Puts the hits of a search into a better order. */
            reranker: {
                model?: string;
                reason?: string;
                /**
                 * @description `off` by configuration; `unavailable` although wanted, see `reason`.
                 * @enum {string}
                 */
                state: "on" | "off" | "unavailable";
            };
            /** @description The agent configuration on disk differs from the one that runs. */
            restartRequired: boolean;
            /**
             * @description `lexical`: BM25 alone; `hybrid`: fused with embeddings.
             * @enum {string}
             */
            retrieval: "lexical" | "hybrid";
            sandbox: components["schemas"]["Sandbox"];
            skills: {
                description: string;
                name: string;
                reason?: string;
                /** @description Where it comes from, as configured. */
                source?: string;
                /**
                 * @description `off` by configuration; `unavailable` although wanted, see `reason`.
                 * @enum {string}
                 */
                state: "on" | "off" | "unavailable";
                /** @description What departs from the format of skills and was put up with. */
                warnings?: string[];
            }[];
        };
        /**
         * @description The JSON object in the `data` field of each server-sent event.
         * @example {
         *       "type": "text-delta",
         *       "text": "At nine on weekdays [1]."
         *     }
         */
        ChatFrame: components["schemas"]["TextDeltaFrame"] | components["schemas"]["ToolCallFrame"] | components["schemas"]["ToolResultFrame"] | components["schemas"]["ApprovalRequiredFrame"] | components["schemas"]["DoneFrame"] | components["schemas"]["ErrorFrame"];
        ChatMessage: {
            /** @description Message text. */
            content: string;
            /** @enum {string} */
            role: "user" | "assistant" | "system";
        };
        /**
         * @example {
         *       "messages": [
         *         {
         *           "role": "user",
         *           "content": "When does the library open?"
         *         }
         *       ]
         *     }
         */
        ChatRequest: {
            collection?: string | null;
            conversationId?: string | null;
            filter?: components["schemas"]["Filter"] | null;
            /**
             * @description Also stream `tool-call` and `tool-result` frames.
             * @default false
             */
            includeSteps?: boolean | null;
            /** @description The conversation; the latest user message is what is answered. */
            messages: components["schemas"]["ChatMessage"][];
            mode?: ("hybrid" | "lexical" | "dense") | null;
            resume?: components["schemas"]["Resume"] | null;
            /**
             * @description Whether a last message that cannot stand alone is searched for with what was said before: as a question that the chat model makes of it (a call of its own, counted in the usage), or together with the questions before it where none generates.
             * @default true
             */
            rewrite?: boolean | null;
            topK?: number | null;
        };
        /** @description A passage of a document; its fields are those of a hit. */
        Chunk: {
            end: number;
            heading?: string;
            /** @description Chunk identifier, as in hits. */
            id: string;
            page?: number;
            pageEnd?: number;
            start: number;
            text: string;
        };
        ChunkList: {
            /** @description In the order of the text. */
            chunks: components["schemas"]["Chunk"][];
            /** @description Hand it back as `cursor` to read on; absent on the last page. Refused once the document was replaced. */
            nextCursor?: string;
        };
        Completion: {
            agent: components["schemas"]["AgentExtra"];
            choices: {
                /** @enum {string} */
                finish_reason: "stop" | "length" | "tool_calls" | "content_filter";
                index: number;
                logprobs: null;
                message: {
                    /** @description A citation for each mark `[n]` of a document with an address of the web. */
                    annotations?: components["schemas"]["UrlCitation"][];
                    content: string | null;
                    reasoning_content?: string;
                    reasoning_details?: unknown[];
                    refusal: null;
                    /** @constant */
                    role: "assistant";
                    tool_calls?: {
                        extra_content?: unknown;
                        function: {
                            arguments: string;
                            name: string;
                        };
                        id: string;
                        /** @constant */
                        type: "function";
                    }[];
                };
            }[];
            created: number;
            id: string;
            model: string;
            /** @constant */
            object: "chat.completion";
            usage?: components["schemas"]["CompletionUsage"];
        };
        /** @description The JSON object in each `data` line; the stream ends with `data: [DONE]`. */
        CompletionChunk: {
            agent?: components["schemas"]["AgentExtra"];
            choices: {
                delta: {
                    /** @description A citation for each mark `[n]` of a document with an address of the web. */
                    annotations?: components["schemas"]["UrlCitation"][];
                    content?: string;
                    reasoning_content?: string;
                    reasoning_details?: unknown[];
                    /** @constant */
                    role?: "assistant";
                    tool_calls?: {
                        extra_content?: unknown;
                        function: {
                            arguments: string;
                            name: string;
                        };
                        id: string;
                        index: number;
                        /** @constant */
                        type: "function";
                    }[];
                };
                finish_reason: ("stop" | "length" | "tool_calls" | "content_filter") | null;
                index: number;
                logprobs: null;
            }[];
            created: number;
            id: string;
            model: string;
            /** @constant */
            object: "chat.completion.chunk";
            usage?: components["schemas"]["CompletionUsage"] | null;
        };
        CompletionMessage: {
            /** @description Text, or parts. Images of the user go to a model that sees; a note stands in place of those, where it does not, and of every other kind of part. */
            content: string | ({
                text: string;
                /** @constant */
                type: "text";
            } | {
                image_url: {
                    detail?: string | null;
                    url: string;
                };
                /** @constant */
                type: "image_url";
            } | ({
                type: string;
            } & {
                [key: string]: unknown;
            }))[];
            /** @enum {string} */
            role: "system" | "developer";
        } | {
            /** @description Text, or parts. Images of the user go to a model that sees; a note stands in place of those, where it does not, and of every other kind of part. */
            content: string | ({
                text: string;
                /** @constant */
                type: "text";
            } | {
                image_url: {
                    detail?: string | null;
                    url: string;
                };
                /** @constant */
                type: "image_url";
            } | ({
                type: string;
            } & {
                [key: string]: unknown;
            }))[];
            /** @constant */
            role: "user";
        } | {
            content?: (string | ({
                text: string;
                /** @constant */
                type: "text";
            } | {
                image_url: {
                    detail?: string | null;
                    url: string;
                };
                /** @constant */
                type: "image_url";
            } | ({
                type: string;
            } & {
                [key: string]: unknown;
            }))[]) | null;
            reasoning_content?: string | null;
            reasoning_details?: {
                [key: string]: unknown;
            }[] | null;
            /** @constant */
            role: "assistant";
            tool_calls?: {
                extra_content?: {
                    [key: string]: unknown;
                } | null;
                function: {
                    arguments: string;
                    name: string;
                };
                id: string;
                /**
                 * @default function
                 * @constant
                 */
                type?: "function";
            }[] | null;
        } | {
            /** @description Text, or parts. Images of the user go to a model that sees; a note stands in place of those, where it does not, and of every other kind of part. */
            content: string | ({
                text: string;
                /** @constant */
                type: "text";
            } | {
                image_url: {
                    detail?: string | null;
                    url: string;
                };
                /** @constant */
                type: "image_url";
            } | ({
                type: string;
            } & {
                [key: string]: unknown;
            }))[];
            /** @constant */
            role: "tool";
            tool_call_id: string;
        };
        /**
         * @example {
         *       "model": "agent",
         *       "messages": [
         *         {
         *           "role": "user",
         *           "content": "When does the library open?"
         *         }
         *       ]
         *     }
         */
        CompletionRequest: {
            collection?: string | null;
            conversationId?: string | null;
            filter?: components["schemas"]["Filter"] | null;
            frequency_penalty?: number | null;
            max_completion_tokens?: number | null;
            max_tokens?: number | null;
            messages: components["schemas"]["CompletionMessage"][];
            mode?: ("hybrid" | "lexical" | "dense") | null;
            /** @description Accepted for the sake of clients; the server runs its one configured agent. */
            model?: string | null;
            n?: 1 | null;
            presence_penalty?: number | null;
            reasoning_effort?: string | null;
            response_format?: {
                [key: string]: unknown;
            } | null;
            resume?: components["schemas"]["Resume"] | null;
            /**
             * @description Whether a last message that cannot stand alone is searched for with what was said before: as a question that the chat model makes of it (a call of its own, counted in the usage), or together with the questions before it where none generates.
             * @default true
             */
            rewrite?: boolean | null;
            seed?: number | null;
            stop?: (string | string[]) | null;
            /** @description Default: true, or false where the `Accept` header names JSON alone. */
            stream?: boolean | null;
            stream_options?: {
                include_usage?: boolean | null;
            } | null;
            temperature?: number | null;
            tool_choice?: (string | {
                [key: string]: unknown;
            }) | null;
            /** @description The client's own tools: calls to them are returned as `tool_calls`. */
            tools?: {
                function: {
                    description?: string | null;
                    name: string;
                    parameters?: {
                        [key: string]: unknown;
                    } | null;
                };
                /** @constant */
                type: "function";
            }[] | null;
            top_p?: number | null;
            topK?: number | null;
        };
        /** @description Tokens of all model calls of the run, summed. */
        CompletionUsage: {
            completion_tokens: number;
            prompt_tokens: number;
            total_tokens: number;
        };
        Deletion: {
            /** @description How many of them are gone: none with `dryRun`, and not those that somebody else had deleted. */
            deleted: number;
            /** @description How many documents were meant. */
            matched: number;
        };
        Deployment: {
            /** @description In order. */
            commands: {
                run: string;
                title: string;
            }[];
            /** @description To be put into `deployment/<target>` of the project; `DEPLOY.md` says how to go on. */
            files: {
                name: string;
                text: string;
            }[];
            /** @description All that stands against it; then there are no files. */
            refusals: {
                /** @description A variable, a field of `agent.json` or of the request. */
                field: string;
                message: string;
                remedy: string;
            }[];
            /** @description Names of the variables to set at the platform; their values are in no file. */
            secrets: string[];
            target: string;
            warnings: {
                /** @description A variable, a field of `agent.json` or of the request. */
                field: string;
                message: string;
                remedy: string;
            }[];
        };
        /**
         * @example {
         *       "target": "compose",
         *       "domain": "agent.example.org"
         *     }
         */
        DeploymentRequest: {
            /** @description The name that it will be called by. */
            domain?: string | null;
            /**
             * @description Servers side by side.
             * @default 1
             */
            instances?: number | null;
            /** @description A name that `GET /admin/deploy` lists. */
            target: string;
        };
        DeploymentTargets: {
            targets: {
                name: string;
                title: string;
            }[];
        };
        Document: {
            /** @description How often ingestion was begun. */
            attempts: number;
            /** @description Length of the text in UTF-16 code units, the unit of every offset. */
            characters: number;
            /** @description How many chunks the document was split into. */
            chunks: number;
            /** Format: date-time */
            createdAt: string;
            error?: components["schemas"]["DocumentError"];
            file?: components["schemas"]["DocumentFile"];
            /**
             * @description Identifier of the document.
             * @example doc_0198c5f28f2e7c1b
             */
            id: string;
            /** @description How far the search by meaning is; absent where search goes by words alone. */
            meaning?: {
                /** @description Chunks that words find and meaning does not find yet. */
                missing: number;
                /** @description About how long it takes at most until it does; absent until that is known. */
                seconds?: number;
            };
            metadata?: components["schemas"]["Metadata"];
            /** @description How many pages that are pictures were begun, while its file is being read. */
            page?: number;
            /** @description Grows by 1 with each replacement of the content, from 1. */
            revision: number;
            /** @description The revision that queries find; absent before the first is ready. While it is below `revision`, a replacement is under way or has failed, and all else but `status`, `error` and `attempts` is of the served one. */
            servedRevision?: number;
            /** @description Of a document that was fetched from `url`: what its last fetch answered. Lists are without it. */
            source?: components["schemas"]["DocumentSource"];
            status: components["schemas"]["DocumentStatus"];
            title?: string;
            /** Format: date-time */
            updatedAt: string;
            url?: string;
            /** @description What of its file could not be read, where anything; the rest is found. */
            warnings?: components["schemas"]["DocumentWarning"][];
        };
        DocumentBatchResult: {
            /** @description One per document, in the order of the request. */
            results: (components["schemas"]["DocumentCreated"] | components["schemas"]["BatchFailure"])[];
        };
        /**
         * @example {
         *       "id": "doc_0198c5f28f2e7c1b",
         *       "status": "pending"
         *     }
         */
        DocumentCreated: {
            error?: components["schemas"]["DocumentError"];
            /**
             * @description Identifier of the document.
             * @example doc_0198c5f28f2e7c1b
             */
            id: string;
            /** @description How far the search by meaning is; absent where search goes by words alone. */
            meaning?: {
                /** @description Chunks that words find and meaning does not find yet. */
                missing: number;
                /** @description About how long it takes at most until it does; absent until that is known. */
                seconds?: number;
            };
            status: components["schemas"]["DocumentStatus"];
        };
        /** @description Why ingestion failed, or why its last attempt did; see docs/ingestion.md. */
        DocumentError: {
            code: string;
            message: string;
        };
        /** @description What the document was sent as, if not as text. */
        DocumentFile: {
            mediaType: string;
            /** @description As it was sent, without a path. */
            name: string;
            /** @description In bytes. */
            size: number;
        };
        DocumentList: {
            /** @description In the order of `sort`, newest first by itself. */
            documents: components["schemas"]["Document"][];
            /** @description Hand it back as `cursor` to read on; absent on the last page. */
            nextCursor?: string;
            /** @description How many there are on all pages; with `total=true`. */
            total?: number;
        };
        /**
         * @example {
         *       "metadata": {
         *         "year": 2027,
         *         "draft": null
         *       }
         *     }
         */
        DocumentPatch: {
            /** @description Fields to set; null takes one out. What is not named stays. */
            metadata: {
                [key: string]: (string | number | boolean) | null;
            };
        };
        /** @enum {string} */
        DocumentSort: "-createdAt" | "createdAt" | "-updatedAt" | "updatedAt" | "title" | "-title" | "characters" | "-characters";
        /** @description The last fetch of the address in `url`. */
        DocumentSource: {
            /** @description Why there is nothing new; the document stays as it was. */
            error?: string;
            /**
             * Format: date-time
             * @description When it was last asked for.
             */
            fetchedAt: string;
            /**
             * Format: date-time
             * @description When it is fetched next.
             */
            nextAt?: string;
            refresh?: string;
            /** @description The HTTP status of the answer; absent where there was none. */
            status?: number;
        };
        /**
         * @description `pending` waits, `processing` is being ingested, `ready` is found by its words by the very next query, `failed` carries `error`.
         * @enum {string}
         */
        DocumentStatus: "pending" | "processing" | "ready" | "failed";
        /** @description What of the document could not be read. */
        DocumentWarning: {
            code: string;
            message: string;
        };
        /** @description The answer is complete. Always the last frame. */
        DoneFrame: {
            /** @description The files that tools made in the run. Absent where there are none. */
            artifacts?: components["schemas"]["Artifact"][];
            /**
             * @description A model that the search asks did not answer, or the vectors are lost: without the embedding model or the vectors it goes by words alone, without the reranking model hits keep their first order, without the chat model a follow-up is searched for together with the questions before it. In `/readiness` also where ingestion stands still. Absent otherwise.
             * @constant
             */
            degraded?: true;
            /** @enum {string} */
            finishReason: "stop" | "length" | "content_filter" | "tool_calls" | "round_limit" | "call_limit" | "time_limit" | "token_limit" | "approval_required";
            /** @description The retrieved chunks; `[n]` in the answer cites the n-th of them, from 1. */
            hits: components["schemas"]["Hit"][];
            /** @description The limits of `agent.json` that kept the run from something: a tool call, or the rest of the answer. Absent otherwise. */
            limitsReached?: ("rounds" | "toolCalls" | "seconds" | "tokens")[];
            /** @description The question that the model made of the conversation, and that chunks were retrieved for. Absent where the last message was searched for as it stands. */
            searchedFor?: string;
            /** @constant */
            type: "done";
            /** @description Numbers that the model cited and no hit of the run has. In the answer `[?]` stands in their place. Absent where there are none. */
            unknownCitations?: number[];
            /** @description Absent where the model does not report it. */
            usage?: components["schemas"]["Usage"];
        };
        Embeddings: {
            data: {
                /** @description A vector of length 1; with `base64` its little-endian 32-bit floats. */
                embedding: number[] | string;
                index: number;
                /** @constant */
                object: "embedding";
            }[];
            model: string;
            /** @constant */
            object: "list";
            /** @description Not known, and 0. */
            usage: {
                prompt_tokens: number;
                total_tokens: number;
            };
        };
        /**
         * @example {
         *       "input": "When does the library open?"
         *     }
         */
        EmbeddingsRequest: {
            dimensions?: null;
            /** @default float */
            encoding_format?: ("float" | "base64") | null;
            input: string | string[];
            /** @description The model is the one that is configured. */
            model?: string | null;
        };
        /** @description The one shape that every failed request answers with. */
        Error: {
            error: components["schemas"]["ErrorDetail"];
        };
        ErrorDetail: {
            /**
             * @description Stable name of the error; see the table in docs/errors.md.
             * @enum {string}
             */
            code: "invalid_request" | "unauthorized" | "insufficient_scope" | "collection_not_allowed" | "fetch_not_allowed" | "origin_not_allowed" | "document_not_found" | "file_not_found" | "connection_not_found" | "artifact_not_found" | "response_not_found" | "version_not_found" | "model_not_found" | "key_not_found" | "route_not_found" | "method_not_allowed" | "request_timeout" | "document_not_failed" | "changed_meanwhile" | "not_writable" | "not_startable" | "restart_unavailable" | "too_many_keys" | "idempotency_conflict" | "body_too_large" | "unsupported_media_type" | "range_not_satisfiable" | "queue_full" | "too_many_uploads" | "too_much_at_once" | "too_many_attempts" | "rate_limited" | "too_many_runs" | "internal" | "screen_unavailable" | "fetch_failed" | "upstream_failed" | "upstream_refused" | "upstream_unauthorized" | "upstream_model_not_found" | "upstream_rate_limited" | "upstream_timeout" | "index_unavailable" | "index_not_ready" | "sandbox_unavailable" | "store_unavailable" | "not_launched" | "shutting_down" | "storage_full";
            /** @description What went wrong and what can be done about it. */
            message: string;
            /** @description The field at fault as a dotted path, or null. */
            param: string | null;
            /** @description Also in the `x-request-id` header and in the log. */
            request_id: string;
            /**
             * @description The family of the error.
             * @enum {string}
             */
            type: "invalid_request_error" | "authentication_error" | "permission_error" | "rate_limit_error" | "server_error" | "upstream_error";
        };
        /** @description The stream failed. Always the last frame. */
        ErrorFrame: {
            error: components["schemas"]["ErrorDetail"];
            /** @constant */
            type: "error";
        };
        /**
         * @description Holds where the field does all that is asked. A value is compared with its own kind only: numbers by size, strings by code points, which suits ISO dates.
         * @example {
         *       "field": "year",
         *       "gte": 2020,
         *       "lt": 2025
         *     }
         */
        FieldCondition: {
            /** @description Equal to this. */
            eq?: (string | number | boolean) | null;
            /** @description Name of a field of the metadata. */
            field: string;
            /** @description More than this. */
            gt?: (string | number) | null;
            /** @description This or more. */
            gte?: (string | number) | null;
            /** @description Equal to one of these. */
            in?: (string | number | boolean)[] | null;
            /** @description Less than this. */
            lt?: (string | number) | null;
            /** @description This or less. */
            lte?: (string | number) | null;
        };
        FileBatch: {
            created_at: number;
            file_counts: {
                /** @description Files that are no longer in the store. */
                cancelled: number;
                completed: number;
                failed: number;
                in_progress: number;
                total: number;
            };
            /** @description Names the files, and so is as long as they are many. */
            id: string;
            /** @constant */
            object: "vector_store.files_batch";
            /**
             * @description `cancelled` where a file has left the store, `failed` where all have failed.
             * @enum {string}
             */
            status: "in_progress" | "completed" | "cancelled" | "failed";
            vector_store_id: string;
        };
        FileCitation: {
            /** @description Where it ends (exclusive). */
            end: number;
            /** @description The document. */
            file_id: string;
            /** @description Its title. */
            filename: string;
            /** @description Where the mark stands in the text, in UTF-16 code units. */
            index: number;
            /** @description The number in the mark: which of the hits it is. */
            number: number;
            /** @description Where the passage begins in the document, in UTF-16 code units. */
            start: number;
            /** @constant */
            type: "file_citation";
            url?: string;
        };
        FileList: {
            data: components["schemas"]["FileObject"][];
            first_id: string | null;
            has_more: boolean;
            /** @description Hand it back as `after` to read on. */
            last_id: string | null;
            /** @constant */
            object: "list";
        };
        /** @description A document, whatever it was sent as. */
        FileObject: {
            bytes: number;
            created_at: number;
            filename: string;
            id: string;
            /** @constant */
            object: "file";
            /** @constant */
            purpose: "assistants";
            /** @enum {string} */
            status: "uploaded" | "processed" | "error";
            status_details?: string;
        };
        /**
         * @description Only chunks of documents whose metadata it takes are found: a condition on one field, or `and`, `or`, `not` of filters, four levels deep. `not` takes documents without the field, too.
         * @example {
         *       "and": [
         *         {
         *           "field": "language",
         *           "in": [
         *             "en",
         *             "de"
         *           ]
         *         },
         *         {
         *           "not": {
         *             "field": "public",
         *             "eq": false
         *           }
         *         }
         *       ]
         *     }
         */
        Filter: components["schemas"]["FieldCondition"] | {
            and: components["schemas"]["FilterLevel2"][];
        } | {
            or: components["schemas"]["FilterLevel2"][];
        } | {
            not: components["schemas"]["FilterLevel2"];
        };
        FilterLevel2: components["schemas"]["FieldCondition"] | {
            and: components["schemas"]["FilterLevel3"][];
        } | {
            or: components["schemas"]["FilterLevel3"][];
        } | {
            not: components["schemas"]["FilterLevel3"];
        };
        FilterLevel3: components["schemas"]["FieldCondition"] | {
            and: components["schemas"]["FilterLevel4"][];
        } | {
            or: components["schemas"]["FilterLevel4"][];
        } | {
            not: components["schemas"]["FilterLevel4"];
        };
        FilterLevel4: components["schemas"]["FieldCondition"] | {
            and: components["schemas"]["FieldCondition"][];
        } | {
            or: components["schemas"]["FieldCondition"][];
        } | {
            not: components["schemas"]["FieldCondition"];
        };
        Health: {
            /** @constant */
            status: "ok";
        };
        /**
         * @example {
         *       "id": "doc_0198c5f28f2e7c1b-1-0",
         *       "score": 4.31,
         *       "text": "The library opens at nine on weekdays and at ten on Saturdays.",
         *       "title": "Opening hours",
         *       "documentId": "doc_0198c5f28f2e7c1b",
         *       "url": "https://example.org/hours",
         *       "start": 0,
         *       "end": 62
         *     }
         */
        Hit: {
            /** @description In chat, neighbouring chunks of a document are joined into one hit, which then names them all, in their order. Absent otherwise. */
            chunkIds?: string[];
            documentId: string;
            /** @description Where the chunk ends in the document (exclusive). */
            end: number;
            /** @description The headings above the chunk, outermost first, joined by ` > `. */
            heading?: string;
            /** @description Chunk identifier. */
            id: string;
            metadata?: components["schemas"]["Metadata"];
            /** @description The page or slide that the chunk begins on, from 1; of files that have pages. */
            page?: number;
            /** @description The page or slide that it ends on. */
            pageEnd?: number;
            /** @description The row of a table, from 1, where the hit is one; the head and blank rows do not count. */
            row?: number;
            /** @description Relevance of the chunk for the query; comparable within one response only. */
            score: number;
            /** @description The sheet of a workbook that the row is of. */
            sheet?: string;
            /** @description What each stage made of the chunk. Only with `explain`. */
            stages?: {
                /** @description Cosine to the query, moved towards the best hits; absent where it was not embedded. */
                dense?: number;
                /** @description BM25; absent where the chunk is not among the best by words. */
                lexical?: number;
                /** @description What the reranking model gave it; then also the score of the hit. */
                rerank?: number;
            };
            /** @description Where the chunk begins in the document, in UTF-16 code units. */
            start: number;
            /** @description Chunk text. */
            text: string;
            /** @description Title of the source document; empty if it was given none. */
            title: string;
            url?: string;
        };
        InputItemList: {
            data: ({
                id: string;
                type: string;
            } & {
                [key: string]: unknown;
            })[];
            first_id: string | null;
            has_more: boolean;
            /** @description Hand it back as `after` to read on. */
            last_id: string | null;
            /** @constant */
            object: "list";
        };
        /** @description This line changed nothing; the others count. */
        LineRefused: {
            error: {
                code: string;
                message: string;
                param: string | null;
            };
            /** @description Number of the line in the request, from 1. */
            line: number;
        };
        /** @description One per line of the request that is not blank, in the order of the request. */
        LineResult: components["schemas"]["LineStored"] | components["schemas"]["LineRefused"];
        /** @description This document is durable; ingestion goes on in the background. */
        LineStored: {
            error?: components["schemas"]["DocumentError"];
            /**
             * @description Identifier of the document.
             * @example doc_0198c5f28f2e7c1b
             */
            id: string;
            /** @description Number of the line in the request, from 1. */
            line: number;
            /** @description How far the search by meaning is; absent where search goes by words alone. */
            meaning?: {
                /** @description Chunks that words find and meaning does not find yet. */
                missing: number;
                /** @description About how long it takes at most until it does; absent until that is known. */
                seconds?: number;
            };
            status: components["schemas"]["DocumentStatus"];
        };
        LogEvent: {
            /** Format: date-time */
            at: string;
            /** @description What else the line holds. */
            details: {
                [key: string]: unknown;
            };
            /** @description Greater than that of every event before it. */
            id: number;
            /** @enum {string} */
            level: "trace" | "debug" | "info" | "warn" | "error" | "fatal";
            message: string;
            requestId?: string;
            /** @constant */
            type: "log";
        };
        /** @description A JSON-RPC 2.0 message. */
        McpAnswer: {
            [key: string]: unknown;
        };
        /**
         * @description A JSON-RPC 2.0 message.
         * @example {
         *       "jsonrpc": "2.0",
         *       "id": 1,
         *       "method": "initialize",
         *       "params": {
         *         "protocolVersion": "2025-11-25",
         *         "capabilities": {},
         *         "clientInfo": {
         *           "name": "example",
         *           "version": "1"
         *         }
         *       }
         *     }
         */
        McpMessage: {
            [key: string]: unknown;
        };
        /**
         * @example {
         *       "accept": false,
         *       "tool": "echo",
         *       "arguments": {
         *         "message": "Hello"
         *       }
         *     }
         */
        McpTestRequest: {
            /**
             * @description Accept the definitions that `digest` names; tools that are new or changed can be used from then on.
             * @default false
             */
            accept?: boolean | null;
            /**
             * @description What the tool is called with.
             * @default {}
             */
            arguments?: {
                [key: string]: unknown;
            } | null;
            /** @description With `accept`: that of the answer whose tools you have looked at. Where the server has others by now, nothing is accepted. */
            digest?: string | null;
            /** @description A tool to call, by the name that the server has for it. */
            tool?: string | null;
        };
        McpTestResult: {
            artifacts?: components["schemas"]["Artifact"][];
            connection: string;
            /** @description Of the definitions of all tools, to accept these and no others. */
            digest: string;
            /** @description Whether every step succeeded. */
            ok: boolean;
            /** @description What the tool answered, for the model. */
            output?: string;
            server?: {
                name: string;
                /** @description Revision of the protocol. */
                protocol: string;
                /** @enum {string} */
                transport: "streamable-http" | "sse";
                version: string;
            };
            steps: {
                /** @description Why it failed, or what was found. */
                message?: string;
                milliseconds: number;
                ok: boolean;
                /** @enum {string} */
                step: "configuration" | "connect" | "list-tools" | "accept" | "call-tool";
            }[];
            tools: {
                description: string;
                /** @description As the model sees it. */
                name: string;
                reason?: string;
                /** @description As the server has it. */
                remoteName: string;
                /**
                 * @description `off` by configuration; `unavailable` although wanted, see `reason`.
                 * @enum {string}
                 */
                state: "on" | "off" | "unavailable";
            }[];
        };
        /**
         * @description Flat facts about a document, at most 32, for filters and shown with its hits.
         * @example {
         *       "language": "en",
         *       "year": 2026,
         *       "public": true
         *     }
         */
        Metadata: {
            [key: string]: string | number | boolean;
        };
        Mistake: {
            /** @description As a dotted path; empty for the whole. */
            field: string;
            message: string;
        };
        Model: {
            created: number;
            id: string;
            /** @constant */
            object: "model";
            owned_by: string;
        };
        ModelList: {
            data: components["schemas"]["Model"][];
            /** @constant */
            object: "list";
        };
        ModelTest: {
            chat?: {
                answer: string;
                /** @description Until the first words of the answer. */
                firstMilliseconds?: number;
                /** @description Whether the answer came in parts. */
                streams: boolean;
                /**
                 * @description `called`: it calls tools. `ignored`: it was given one and did not call it. `none`: it takes none.
                 * @enum {string}
                 */
                tools: "called" | "ignored" | "none";
            };
            embedding?: {
                dimension: number;
            };
            /** @description What fails, and what to do about it. */
            error?: string;
            /** @enum {string} */
            kind: "chat" | "embedding" | "reranking";
            /** @description For everything that was asked. */
            milliseconds: number;
            model: string;
            ok: boolean;
            reranking?: {
                /** @description Whether the passage that answers comes first. */
                ranksRight: boolean;
                scores: number[];
            };
        };
        /**
         * @description With `set` and `clear`, settings are tried that are not saved.
         * @example {
         *       "kind": "chat",
         *       "set": {
         *         "CHAT_MODEL": "gpt-5-mini"
         *       }
         *     }
         */
        ModelTestRequest: {
            /**
             * @description Variables that get their default again, or none.
             * @default []
             */
            clear?: string[] | null;
            /** @enum {string} */
            kind: "chat" | "embedding" | "reranking";
            /**
             * @description New values by the names of variables. What is not named stays as it is.
             * @default {}
             */
            set?: {
                [key: string]: string;
            } | null;
        };
        /**
         * @example {
         *       "name": "website",
         *       "scopes": [
         *         "chat"
         *       ],
         *       "collections": [
         *         "handbook"
         *       ]
         *     }
         */
        NewApiKey: {
            collections?: string[] | null;
            expiresAt?: string | null;
            /** @description What the key is for, as the log and the screen name it. */
            name: string;
            requestsPerMinute?: number | null;
            /** @description What it may do. query: search and read documents; chat: ask the agent; ingest: add, change and delete documents; admin: run the server. */
            scopes: ("query" | "chat" | "ingest" | "admin")[];
            tokensPerDay?: number | null;
        };
        /**
         * @example {
         *       "title": "Opening hours",
         *       "text": "The library opens at nine on weekdays and at ten on Saturdays.",
         *       "url": "https://example.org/hours"
         *     }
         */
        NewDocument: {
            /** @description The collection that the document belongs to, kept as `collection` in its metadata; `default`, where there is none. */
            collection?: string | null;
            metadata?: components["schemas"]["Metadata"] | null;
            refresh?: string | null;
            /** @description Raw text content of the document; without it, what is at `url` is fetched. */
            text?: string | null;
            /** @description Title of the document. */
            title?: string | null;
            /** @description URL where the document originated. */
            url?: string | null;
        };
        /**
         * @description The parts may come in any order.
         * @example {
         *       "file": "%PDF-1.7 …",
         *       "title": "Annual report",
         *       "metadata": "{\"year\": 2026}"
         *     }
         */
        NewDocumentFile: {
            /**
             * @description The collection that the document belongs to.
             * @example default
             */
            collection?: string;
            /**
             * Format: binary
             * @description The bytes of the file, with its name. At most FILE_LIMIT.
             */
            file: string;
            /**
             * @description A JSON object: the flat facts about the document, as `metadata` of NewDocument.
             * @example {"year": 2026}
             */
            metadata?: string;
            /**
             * @description Title of the document; the name of the file where it has none.
             * @example Annual report
             */
            title?: string;
            /**
             * @description URL where the document originated.
             * @example https://example.org/report
             */
            url?: string;
        };
        /**
         * @description A document of a list, or of a stream with one per line, each a JSON object: at most 100000 lines of at most 10000000 bytes.
         * @example {
         *       "id": "owls",
         *       "text": "Owls hunt at night."
         *     }
         */
        NewDocumentItem: {
            /** @description The collection that the document belongs to, kept as `collection` in its metadata; `default`, where there is none. */
            collection?: string | null;
            /** @description As with `PUT /documents/{id}`: replaces the document with this id, or adds it. Makes it safe to send it again. */
            id?: string | null;
            /** @description As the header of `POST /documents`: what comes with a known key answers the document that the first one made. */
            idempotencyKey?: string | null;
            metadata?: components["schemas"]["Metadata"] | null;
            /** @description Raw text content of the document. */
            text: string;
            /** @description Title of the document. */
            title?: string | null;
            /** @description URL where the document originated. */
            url?: string | null;
        };
        /**
         * @description At most 1000 documents; BODY_LIMIT bounds them further.
         * @example [
         *       {
         *         "text": "Owls hunt at night."
         *       },
         *       {
         *         "id": "herons",
         *         "text": "Herons wait."
         *       }
         *     ]
         */
        NewDocuments: components["schemas"]["NewDocumentItem"][];
        /**
         * @example {
         *       "file": "%PDF-1.7 …",
         *       "purpose": "assistants"
         *     }
         */
        NewFile: {
            /**
             * Format: binary
             * @description The bytes of the file, with its name. At most FILE_LIMIT.
             */
            file: string;
            /** @description Has no effect. */
            purpose?: string;
        };
        /**
         * @example {
         *       "file_ids": [
         *         "doc_0198c5f28f2e7c1b"
         *       ]
         *     }
         */
        NewFileBatch: {
            /** @description Of all of `file_ids`. */
            attributes?: components["schemas"]["Metadata"] | null;
            chunking_strategy?: null;
            /** @description Documents. */
            file_ids?: string[] | null;
            /** @description In place of `file_ids`, where each document has attributes of its own. */
            files?: components["schemas"]["NewVectorStoreFile"][] | null;
        };
        /**
         * @example {
         *       "url": "https://example.org/sitemap.xml",
         *       "refresh": "1d"
         *     }
         */
        NewSite: {
            collection?: string | null;
            /**
             * @description The most pages that are fetched.
             * @default 1000
             */
            limit?: number | null;
            metadata?: components["schemas"]["Metadata"] | null;
            refresh?: string | null;
            /**
             * Format: uri
             * @description Address of the sitemap: XML, an index of them, either packed with gzip, or one address a line.
             */
            url: string;
        };
        /**
         * @example {
         *       "name": "handbook"
         *     }
         */
        NewVectorStore: {
            chunking_strategy?: null;
            expires_after?: null;
            /** @description Documents to put into it. */
            file_ids?: string[] | null;
            /** @description The collection that the store is. */
            name: string;
        };
        /**
         * @example {
         *       "file_id": "doc_0198c5f28f2e7c1b"
         *     }
         */
        NewVectorStoreFile: {
            attributes?: components["schemas"]["Metadata"] | null;
            chunking_strategy?: null;
            /**
             * @description Identifier of the document.
             * @example doc_0198c5f28f2e7c1b
             */
            file_id: string;
        };
        ProviderModels: {
            models: string[];
        };
        /**
         * @example {
         *       "query": "When does the library open?",
         *       "topK": 3
         *     }
         */
        QueryRequest: {
            collection?: string | null;
            /** @description Also tell the score of each stage of the search with each hit. */
            explain?: boolean | null;
            filter?: components["schemas"]["Filter"] | null;
            mode?: ("hybrid" | "lexical" | "dense") | null;
            /** @description The question or text to find matches for in the vector store. */
            query: string;
            /** @default 5 */
            topK?: number | null;
        };
        QueryResponse: {
            /**
             * @description A model that the search asks did not answer, or the vectors are lost: without the embedding model or the vectors it goes by words alone, without the reranking model hits keep their first order, without the chat model a follow-up is searched for together with the questions before it. In `/readiness` also where ingestion stands still. Absent otherwise.
             * @constant
             */
            degraded?: true;
            /** @description Matching chunks, best first. */
            hits: components["schemas"]["Hit"][];
            /** @description The original query. */
            query: string;
        };
        Readiness: {
            /** @description One entry per part: `store`, `index`, `agent`, `ingestion`, and `embedder` and `reranker` where there is one. The last three make the server `degraded`, not `not_ready`: it answers without them. */
            checks: {
                [key: string]: {
                    /** @description What fails, where something does. */
                    message?: string;
                    milliseconds: number;
                    /** @enum {string} */
                    state: "ok" | "failed";
                };
            };
            /**
             * @description A model that the search asks did not answer, or the vectors are lost: without the embedding model or the vectors it goes by words alone, without the reranking model hits keep their first order, without the chat model a follow-up is searched for together with the questions before it. In `/readiness` also where ingestion stands still. Absent otherwise.
             * @constant
             */
            degraded?: true;
            documents?: {
                failed: number;
                pending: number;
                processing: number;
                ready: number;
            };
            /** @description How far the vectors are; absent where search goes by words alone. */
            meaning?: {
                /** @description Chunks that words find and meaning does not find yet. */
                missing: number;
                reason?: string;
                /** @description Chunks that the embedding model does not take. */
                refused: number;
                /** @description About how long the missing ones take. */
                seconds?: number;
                /**
                 * @description `waiting`: the embedding model does not work now, see `reason`.
                 * @enum {string}
                 */
                state: "done" | "embedding" | "waiting";
            };
            /** @description How far the vectors of EMBEDDING_MODEL_NEXT are. */
            reindex?: {
                done: number;
                model: string;
                reason?: string;
                /**
                 * @description `ready`: a start with this model as EMBEDDING_MODEL swaps the vectors; `waiting`: tried again, see `reason`.
                 * @enum {string}
                 */
                state: "embedding" | "ready" | "waiting";
                total: number;
            };
            /** @enum {string} */
            retrieval: "lexical" | "hybrid";
            /** @enum {string} */
            status: "ready" | "not_ready";
        };
        Removed: {
            /** @constant */
            deleted: true;
            id: string;
            object: string;
        };
        RequestEvent: {
            /** @description The caller’s. */
            address?: string;
            /** Format: date-time */
            at: string;
            /** @description Greater than that of every event before it. */
            id: number;
            /** @description Its name and id, unless it was the SERVER_API_KEY. */
            key?: string;
            method: string;
            /** @description Milliseconds. */
            milliseconds: number;
            /** @description As in this contract; `unknown` where no route fits. */
            operation: string;
            path: string;
            requestId?: string;
            /** @description 499 where the caller hung up before the answer was complete. */
            status: number;
            /** @constant */
            type: "request";
        };
        Response: {
            agent?: {
                approval?: components["schemas"]["Approval"];
                /** @description The files that tools made in the run. Absent where there are none. */
                artifacts?: components["schemas"]["Artifact"][];
                /**
                 * @description A model that the search asks did not answer, or the vectors are lost: without the embedding model or the vectors it goes by words alone, without the reranking model hits keep their first order, without the chat model a follow-up is searched for together with the questions before it. In `/readiness` also where ingestion stands still. Absent otherwise.
                 * @constant
                 */
                degraded?: true;
                error?: components["schemas"]["ErrorDetail"];
                /** @enum {string} */
                finishReason?: "stop" | "length" | "content_filter" | "tool_calls" | "round_limit" | "call_limit" | "time_limit" | "token_limit" | "approval_required";
                hits?: components["schemas"]["Hit"][];
                /** @description The limits of `agent.json` that kept the run from something: a tool call, or the rest of the answer. Absent otherwise. */
                limitsReached?: ("rounds" | "toolCalls" | "seconds" | "tokens")[];
                /** @description The question that the model made of the conversation, and that chunks were retrieved for. Absent where the last message was searched for as it stands. */
                searchedFor?: string;
                /** @description Numbers that the model cited and no hit of the run has. In the answer `[?]` stands in their place. Absent where there are none. */
                unknownCitations?: number[];
            };
            completed_at: number | null;
            created_at: number;
            error: {
                code: string;
                message: string;
            } | null;
            id: string;
            incomplete_details: {
                reason: string;
            } | null;
            instructions: string | null;
            max_output_tokens: number | null;
            metadata: {
                [key: string]: string;
            };
            model: string;
            /** @constant */
            object: "response";
            output: components["schemas"]["ResponseOutputItem"][];
            parallel_tool_calls: boolean;
            previous_response_id: string | null;
            reasoning: {
                effort: string | null;
                summary: null;
            };
            /** @enum {string} */
            status: "in_progress" | "completed" | "incomplete" | "failed";
            store: boolean;
            temperature: number | null;
            text: {
                [key: string]: unknown;
            };
            tool_choice: unknown;
            tools: {
                [key: string]: unknown;
            }[];
            top_p: number | null;
            /** @constant */
            truncation: "auto";
            /** @description Null where the model does not report it; the details are not known and 0. */
            usage: {
                input_tokens: number;
                input_tokens_details: {
                    cache_write_tokens: number;
                    cached_tokens: number;
                };
                output_tokens: number;
                output_tokens_details: {
                    reasoning_tokens: number;
                };
                total_tokens: number;
            } | null;
        };
        ResponseDeleted: {
            /** @constant */
            deleted: true;
            id: string;
            /** @constant */
            object: "response";
        };
        /** @description The JSON object in each `data` line; the event bears its `type`. The last one is `response.completed`, `response.incomplete`, `response.failed` or, where nothing had begun, `error`. */
        ResponseEvent: {
            annotation?: components["schemas"]["FileCitation"];
            annotation_index?: number;
            arguments?: string;
            code?: string;
            content_index?: number;
            delta?: string;
            item?: components["schemas"]["ResponseOutputItem"];
            item_id?: string;
            logprobs?: unknown[];
            message?: string;
            name?: string;
            output_index?: number;
            param?: string | null;
            part?: {
                annotations: components["schemas"]["FileCitation"][];
                logprobs: unknown[];
                text: string;
                /** @constant */
                type: "output_text";
            };
            response?: components["schemas"]["Response"];
            sequence_number: number;
            text?: string;
            /** @enum {string} */
            type: "response.created" | "response.in_progress" | "response.output_item.added" | "response.file_search_call.in_progress" | "response.file_search_call.searching" | "response.file_search_call.completed" | "response.content_part.added" | "response.output_text.delta" | "response.output_text.annotation.added" | "response.output_text.done" | "response.content_part.done" | "response.function_call_arguments.delta" | "response.function_call_arguments.done" | "response.output_item.done" | "response.completed" | "response.incomplete" | "response.failed" | "error";
        };
        ResponseInputItem: {
            content: string | ({
                text: string;
                /** @enum {string} */
                type: "input_text" | "output_text" | "text";
            } | {
                refusal: string;
                /** @constant */
                type: "refusal";
            } | {
                detail?: string | null;
                image_url: string;
                /** @constant */
                type: "input_image";
            })[];
            /** @enum {string} */
            role: "user" | "assistant" | "system" | "developer";
            /** @constant */
            type?: "message";
        } | {
            arguments: string;
            call_id: string;
            extra_content?: {
                [key: string]: unknown;
            } | null;
            name: string;
            reasoning_content?: string | null;
            reasoning_details?: {
                [key: string]: unknown;
            }[] | null;
            /** @constant */
            type: "function_call";
        } | {
            call_id: string;
            output: string | ({
                text: string;
                /** @enum {string} */
                type: "input_text" | "output_text" | "text";
            } | {
                refusal: string;
                /** @constant */
                type: "refusal";
            } | {
                detail?: string | null;
                image_url: string;
                /** @constant */
                type: "input_image";
            })[];
            /** @constant */
            type: "function_call_output";
        } | {
            id: string;
            /** @constant */
            type: "item_reference";
        } | {
            /** @enum {string} */
            type: "file_search_call" | "reasoning";
        };
        ResponseOutputItem: {
            content: {
                annotations: components["schemas"]["FileCitation"][];
                logprobs: unknown[];
                text: string;
                /** @constant */
                type: "output_text";
            }[];
            id: string;
            /** @constant */
            role: "assistant";
            /** @enum {string} */
            status: "in_progress" | "completed" | "incomplete" | "failed";
            /** @constant */
            type: "message";
        } | {
            arguments: string;
            call_id: string;
            extra_content?: unknown;
            id: string;
            name: string;
            reasoning_content?: string;
            reasoning_details?: unknown[];
            /** @enum {string} */
            status: "in_progress" | "completed" | "incomplete" | "failed";
            /** @constant */
            type: "function_call";
        } | {
            id: string;
            queries: string[];
            /** @description With `include: ["file_search_call.results"]`. */
            results: {
                attributes: {
                    [key: string]: unknown;
                };
                file_id: string;
                filename: string;
                score: number;
                text: string;
            }[] | null;
            /** @enum {string} */
            status: "in_progress" | "completed" | "incomplete" | "failed";
            /** @constant */
            type: "file_search_call";
        };
        /**
         * @example {
         *       "model": "agent",
         *       "input": "When does the library open?"
         *     }
         */
        ResponseRequest: {
            background?: false | null;
            collection?: string | null;
            conversation?: null;
            conversationId?: string | null;
            filter?: components["schemas"]["Filter"] | null;
            include?: ("file_search_call.results" | "reasoning.encrypted_content" | "web_search_call.results" | "web_search_call.action.sources" | "message.input_image.image_url" | "computer_call_output.output.image_url" | "code_interpreter_call.outputs")[] | null;
            /** @description The question, or what was said and done since the previous response. */
            input: string | components["schemas"]["ResponseInputItem"][];
            instructions?: string | null;
            max_output_tokens?: number | null;
            max_tool_calls?: null;
            metadata?: {
                [key: string]: string;
            } | null;
            mode?: ("hybrid" | "lexical" | "dense") | null;
            /** @description The agent, or `<agent>:<collection>`; any other name is the agent, too. */
            model?: string | null;
            parallel_tool_calls?: true | null;
            /** @description The response, kept with `store`, that this one goes on from. */
            previous_response_id?: string | null;
            prompt?: null;
            reasoning?: {
                effort?: string | null;
            } | null;
            resume?: components["schemas"]["Resume"] | null;
            /**
             * @description Whether a last message that cannot stand alone is searched for with what was said before: as a question that the chat model makes of it (a call of its own, counted in the usage), or together with the questions before it where none generates.
             * @default true
             */
            rewrite?: boolean | null;
            /**
             * @description Whether it is kept for `GET` and `previous_response_id`: for 30 days, the oldest going first where room is short.
             * @default true
             */
            store?: boolean | null;
            /** @default false */
            stream?: boolean | null;
            temperature?: number | null;
            text?: {
                format?: ({
                    /** @enum {string} */
                    type: "text" | "json_object" | "json_schema";
                } & {
                    [key: string]: unknown;
                }) | null;
                /** @description Has no effect. */
                verbosity?: ("low" | "medium" | "high") | null;
            } | null;
            tool_choice?: (("none" | "auto" | "required") | {
                name: string;
                /** @constant */
                type: "function";
            } | {
                /** @constant */
                type: "file_search";
            }) | null;
            /** @description The client's own functions, and `file_search` to say what the server's own search takes; the server's other tools are always there. */
            tools?: ({
                description?: string | null;
                name: string;
                parameters?: {
                    [key: string]: unknown;
                } | null;
                strict?: boolean | null;
                /** @constant */
                type: "function";
            } | {
                filters?: ({
                    key: string;
                    /** @enum {string} */
                    type: "eq" | "ne" | "gt" | "gte" | "lt" | "lte" | "in" | "nin";
                    value: (string | number | boolean) | (string | number | boolean)[];
                } | {
                    filters: ({
                        key: string;
                        /** @enum {string} */
                        type: "eq" | "ne" | "gt" | "gte" | "lt" | "lte" | "in" | "nin";
                        value: (string | number | boolean) | (string | number | boolean)[];
                    } | {
                        filters: ({
                            key: string;
                            /** @enum {string} */
                            type: "eq" | "ne" | "gt" | "gte" | "lt" | "lte" | "in" | "nin";
                            value: (string | number | boolean) | (string | number | boolean)[];
                        } | {
                            filters: {
                                key: string;
                                /** @enum {string} */
                                type: "eq" | "ne" | "gt" | "gte" | "lt" | "lte" | "in" | "nin";
                                value: (string | number | boolean) | (string | number | boolean)[];
                            }[];
                            /** @enum {string} */
                            type: "and" | "or";
                        })[];
                        /** @enum {string} */
                        type: "and" | "or";
                    })[];
                    /** @enum {string} */
                    type: "and" | "or";
                }) | null;
                max_num_results?: number | null;
                /** @constant */
                type: "file_search";
                vector_store_ids: string[];
            })[] | null;
            top_logprobs?: null;
            top_p?: number | null;
            topK?: number | null;
            truncation?: "auto" | null;
        };
        Restarting: {
            /** @description What open streams get to finish. */
            graceSeconds: number;
            /**
             * Format: date-time
             * @description Of the server that ends now.
             */
            startedAt: string;
        };
        Resume: {
            /** @description The `callId` of each call that may run; the others count as refused. */
            approved: string[];
            /** @description As it came with the calls that wait; `messages` are those of the request before. */
            state: string;
        };
        /** @description A run of the agent has ended. */
        RunEvent: {
            /** Format: date-time */
            at: string;
            completionTokens?: number;
            /** @description Milliseconds to the first text. */
            firstDelta?: number;
            /** @description Greater than that of every event before it. */
            id: number;
            /** @description Milliseconds. */
            milliseconds: number;
            /** @description The finish reason, an error code, or `abandoned` where the caller left. */
            outcome: string;
            /** @description As the model reports them. */
            promptTokens?: number;
            /** @description How often each tool was called. */
            tools: {
                [key: string]: number;
            };
            /** @constant */
            type: "run";
        };
        /** @description What the server did in some seconds. */
        SampleEvent: {
            /** Format: date-time */
            at: string;
            /** @description Documents that became ready, or failed. */
            documents: number;
            /** @description Those answered with a status from 500 on. */
            failedRequests: number;
            /** @description Greater than that of every event before it. */
            id: number;
            /** @description Resident, in bytes. */
            memory: number;
            /** @description Runs under way at its end. */
            openRuns: number;
            /** @description How many of them were busy. */
            processors: number;
            /** @description The mean of a request. */
            requestMilliseconds: number;
            requests: number;
            /** @description Runs that ended. */
            runs: number;
            searches: number;
            /** @description The mean of a search. */
            searchMilliseconds: number;
            /** @description What it covers. */
            seconds: number;
            /** @constant */
            type: "sample";
        };
        Sandbox: {
            /** @enum {string} */
            kind: "embedded" | "bubblewrap" | "docker" | "e2b" | "none";
            /** @description What code may take. */
            limits?: {
                cpus: number;
                fileMegabytes: number;
                memoryMegabytes: number;
                outputKilobytes: number;
                processes: number;
                seconds: number;
            };
            reason?: string;
            /**
             * @description `off` by configuration; `unavailable` although wanted, see `reason`.
             * @enum {string}
             */
            state: "on" | "off" | "unavailable";
            /** @description What the last verification found, since the server was started. */
            verified?: components["schemas"]["SandboxReport"];
        };
        SandboxProbe: {
            /** @description What is wrong. */
            message?: string;
            milliseconds: number;
            /** @enum {string} */
            name: "start" | "computation" | "files" | "environment" | "host-files" | "network" | "memory" | "total-memory" | "processes" | "cpus" | "file-space" | "output" | "time-out";
            ok: boolean;
            /** @description What the operator can do about it. */
            remedy?: string;
        };
        SandboxReport: {
            /** @enum {string} */
            kind: "embedded" | "bubblewrap" | "docker" | "e2b" | "none";
            milliseconds: number;
            /** @description Whether every probe is. */
            ok: boolean;
            probes: components["schemas"]["SandboxProbe"][];
            /** Format: date-time */
            verifiedAt: string;
        };
        ServerState: {
            /** @description What would keep the server from starting, as it stands on disk now. */
            mistakes: {
                agent: components["schemas"]["Mistake"][];
                settings: components["schemas"]["Mistake"][];
            };
            /**
             * @description SERVER_MODE: everything, or documents, search and grounded chat without tools, skills, MCP and sandbox.
             * @enum {string}
             */
            mode: "agent" | "knowledge";
            /** @description Why the start failed. */
            reason?: string;
            restart: {
                /** @description The fields of the agent configuration that it would. */
                agent: string[];
                /** @description Whether `POST /admin/restart` works here. */
                possible: boolean;
                /** @description Why it does not. */
                reason?: string;
                /** @description Whether a restart would change anything. */
                required: boolean;
                /** @description The variables that it would. */
                settings: string[];
            };
            /**
             * Format: date-time
             * @description Another one after a restart.
             */
            startedAt: string;
            /**
             * @description What is not `running` answers 503 `not_launched` to all but the public paths and `/admin`.
             * @enum {string}
             */
            state: "running" | "stopped" | "failed";
        };
        Setting: {
            /** @description Absent where there is none. */
            default?: string;
            /** @description The last four characters of a secret that is set and long enough. */
            ending?: string;
            group: string;
            meaning: string;
            name: string;
            /** @description Whether the server runs with another value. */
            restartRequired: boolean;
            /** @description Whether its value is never sent. */
            secret: boolean;
            /**
             * @description Where its value comes from. What the environment sets cannot be changed here.
             * @enum {string}
             */
            source: "environment" | "file" | "default";
            /** @description Absent where there is none, and of a secret. */
            value?: string;
        };
        Settings: {
            /** @description SHA-256 of that file, in hexadecimal digits. */
            digest: string;
            /** @description What would keep the server from starting. */
            mistakes: components["schemas"]["Mistake"][];
            /** @description The file that settings are written to. */
            path: string;
            settings: components["schemas"]["Setting"][];
        };
        /**
         * @example {
         *       "basedOn": "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a",
         *       "set": {
         *         "TOP_K": "8"
         *       },
         *       "clear": [
         *         "CORS_ORIGIN"
         *       ]
         *     }
         */
        SettingsPatch: {
            /** @description The `digest` of what this was based on. Where the file says something else by now, nothing is saved: `changed_meanwhile`. */
            basedOn: string;
            /**
             * @description Variables that get their default again, or none.
             * @default []
             */
            clear?: string[] | null;
            /**
             * @description Gives a variable the value of another one, secrets included, which is cleared: from the name to the name.
             * @default {}
             */
            move?: {
                [key: string]: string;
            } | null;
            /**
             * @description New values by the names of variables. What is not named stays as it is.
             * @default {}
             */
            set?: {
                [key: string]: string;
            } | null;
        };
        SettingsSaved: {
            /** @description The variables that have another value than before. */
            changed: string[];
            settings: components["schemas"]["Settings"];
        };
        /** @description First how many pages there are, then one line for each. */
        SiteLine: {
            /** @description Pages that are on other hosts, or beyond `limit`. */
            left: number;
            /** @description How many pages follow. */
            pages: number;
        } | {
            /**
             * @description Identifier of the document.
             * @example doc_0198c5f28f2e7c1b
             */
            id: string;
            /** @description Number of the page, from 1. */
            page: number;
            status: components["schemas"]["DocumentStatus"];
            /** @description Whether it is ingested as it is now. */
            unchanged: boolean;
            /** @description Its address. */
            url: string;
        } | {
            error: components["schemas"]["DocumentError"];
            /** @description Number of the page, from 1. */
            page: number;
            /** @description Its address. */
            url: string;
        };
        SkillList: {
            skills: {
                description: string;
                name: string;
                reason?: string;
                /** @description Where it comes from, as configured. */
                source?: string;
                /**
                 * @description `off` by configuration; `unavailable` although wanted, see `reason`.
                 * @enum {string}
                 */
                state: "on" | "off" | "unavailable";
                /** @description What departs from the format of skills and was put up with. */
                warnings?: string[];
            }[];
        };
        /**
         * @example {
         *       "source": "https://example.org",
         *       "accept": false
         *     }
         */
        SkillReload: {
            /**
             * @description Accept what remote sources give now, though it has changed since it was accepted.
             * @default false
             */
            accept?: boolean | null;
            /** @description A source as `agent.json` names it; all of them where this is absent. */
            source?: string | null;
        };
        /** @description The next fragment of the answer. */
        TextDeltaFrame: {
            text: string;
            /** @constant */
            type: "text-delta";
        };
        Tool: {
            /**
             * @description Each call waits for the client: see `approval-required` in `ChatFrame`.
             * @constant
             */
            approval?: "always";
            description: string;
            /** @description JSON Schema. */
            inputSchema: {
                [key: string]: unknown;
            };
            name: string;
            reason?: string;
            /** @description `builtin`, `mcp:<connection>`, `skill` or `plugin:<name>`. */
            source: string;
            /**
             * @description `off` by configuration; `unavailable` although wanted, see `reason`.
             * @enum {string}
             */
            state: "on" | "off" | "unavailable";
            title: string;
        };
        /** @description A tool is called. Only with `includeSteps`. */
        ToolCallFrame: {
            callId: string;
            input: unknown;
            tool: string;
            /** @constant */
            type: "tool-call";
        };
        ToolList: {
            tools: components["schemas"]["Tool"][];
        };
        /** @description What a tool answered. Only with `includeSteps`. */
        ToolResultFrame: {
            callId: string;
            isError: boolean;
            output: string;
            tool: string;
            /** @constant */
            type: "tool-result";
        };
        UrlCitation: {
            /** @constant */
            type: "url_citation";
            url_citation: {
                /** @description Where it ends (exclusive). */
                end_index: number;
                /** @description Where the mark begins in the answer, in UTF-16 code units. */
                start_index: number;
                title: string;
                url: string;
            };
        };
        /** @description Tokens of all model calls of the run, summed. */
        Usage: {
            completionTokens: number;
            promptTokens: number;
            totalTokens: number;
        };
        VectorStore: {
            /** @description When its oldest document came; now, where it has none. */
            created_at: number;
            file_counts: {
                cancelled: number;
                completed: number;
                failed: number;
                in_progress: number;
                total: number;
            };
            id: string;
            last_active_at: null;
            metadata: Record<string, never>;
            name: string;
            /** @constant */
            object: "vector_store";
            /** @enum {string} */
            status: "in_progress" | "completed";
            /** @description Not known, and 0. */
            usage_bytes: number;
        };
        VectorStoreFile: {
            attributes: components["schemas"]["Metadata"];
            created_at: number;
            id: string;
            last_error: {
                code: string;
                message: string;
            } | null;
            /** @constant */
            object: "vector_store.file";
            /** @enum {string} */
            status: "in_progress" | "completed" | "failed";
            usage_bytes: number;
            vector_store_id: string;
        };
        VectorStoreFileList: {
            data: components["schemas"]["VectorStoreFile"][];
            first_id: string | null;
            has_more: boolean;
            /** @description Hand it back as `after` to read on. */
            last_id: string | null;
            /** @constant */
            object: "list";
        };
        VectorStoreList: {
            data: components["schemas"]["VectorStore"][];
            /** @constant */
            has_more: false;
            /** @constant */
            object: "list";
        };
        /**
         * @example {
         *       "query": "When does the library open?"
         *     }
         */
        VectorStoreSearch: {
            filters?: ({
                key: string;
                /** @enum {string} */
                type: "eq" | "ne" | "gt" | "gte" | "lt" | "lte" | "in" | "nin";
                value: (string | number | boolean) | (string | number | boolean)[];
            } | {
                filters: ({
                    key: string;
                    /** @enum {string} */
                    type: "eq" | "ne" | "gt" | "gte" | "lt" | "lte" | "in" | "nin";
                    value: (string | number | boolean) | (string | number | boolean)[];
                } | {
                    filters: ({
                        key: string;
                        /** @enum {string} */
                        type: "eq" | "ne" | "gt" | "gte" | "lt" | "lte" | "in" | "nin";
                        value: (string | number | boolean) | (string | number | boolean)[];
                    } | {
                        filters: {
                            key: string;
                            /** @enum {string} */
                            type: "eq" | "ne" | "gt" | "gte" | "lt" | "lte" | "in" | "nin";
                            value: (string | number | boolean) | (string | number | boolean)[];
                        }[];
                        /** @enum {string} */
                        type: "and" | "or";
                    })[];
                    /** @enum {string} */
                    type: "and" | "or";
                })[];
                /** @enum {string} */
                type: "and" | "or";
            }) | null;
            /** @default 10 */
            max_num_results?: number | null;
            query: string | string[];
            ranking_options?: {
                ranker?: ("auto" | "default-2024-11-15" | "none") | null;
                /** @description Results of a lower score are left out. */
                score_threshold?: number | null;
            } | null;
            rewrite_query?: false | null;
        };
        VectorStoreSearchResults: {
            data: {
                attributes: components["schemas"]["Metadata"];
                content: {
                    text: string;
                    /** @constant */
                    type: "text";
                }[];
                end: number;
                file_id: string;
                filename: string;
                /** @description Comparable within one answer only. */
                score: number;
                /** @description Where the passage begins in the document. */
                start: number;
            }[];
            /** @constant */
            has_more: false;
            next_page: null;
            /** @constant */
            object: "vector_store.search_results.page";
            search_query: string[];
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type ActivityEvent = components['schemas']['ActivityEvent'];
export type ActivityFrame = components['schemas']['ActivityFrame'];
export type Agent = components['schemas']['Agent'];
export type AgentCheck = components['schemas']['AgentCheck'];
export type AgentExtra = components['schemas']['AgentExtra'];
export type AgentFile = components['schemas']['AgentFile'];
export type AgentRestore = components['schemas']['AgentRestore'];
export type AgentSave = components['schemas']['AgentSave'];
export type AgentSaved = components['schemas']['AgentSaved'];
export type AgentText = components['schemas']['AgentText'];
export type AgentVersion = components['schemas']['AgentVersion'];
export type AgentVersions = components['schemas']['AgentVersions'];
export type ApiKey = components['schemas']['ApiKey'];
export type ApiKeyCreated = components['schemas']['ApiKeyCreated'];
export type ApiKeyList = components['schemas']['ApiKeyList'];
export type Approval = components['schemas']['Approval'];
export type ApprovalRequiredFrame = components['schemas']['ApprovalRequiredFrame'];
export type Artifact = components['schemas']['Artifact'];
export type BatchFailure = components['schemas']['BatchFailure'];
export type Capabilities = components['schemas']['Capabilities'];
export type ChatFrame = components['schemas']['ChatFrame'];
export type ChatMessage = components['schemas']['ChatMessage'];
export type ChatRequest = components['schemas']['ChatRequest'];
export type Chunk = components['schemas']['Chunk'];
export type ChunkList = components['schemas']['ChunkList'];
export type Completion = components['schemas']['Completion'];
export type CompletionChunk = components['schemas']['CompletionChunk'];
export type CompletionMessage = components['schemas']['CompletionMessage'];
export type CompletionRequest = components['schemas']['CompletionRequest'];
export type CompletionUsage = components['schemas']['CompletionUsage'];
export type Deletion = components['schemas']['Deletion'];
export type Deployment = components['schemas']['Deployment'];
export type DeploymentRequest = components['schemas']['DeploymentRequest'];
export type DeploymentTargets = components['schemas']['DeploymentTargets'];
export type Document = components['schemas']['Document'];
export type DocumentBatchResult = components['schemas']['DocumentBatchResult'];
export type DocumentCreated = components['schemas']['DocumentCreated'];
export type DocumentError = components['schemas']['DocumentError'];
export type DocumentFile = components['schemas']['DocumentFile'];
export type DocumentList = components['schemas']['DocumentList'];
export type DocumentPatch = components['schemas']['DocumentPatch'];
export type DocumentSort = components['schemas']['DocumentSort'];
export type DocumentSource = components['schemas']['DocumentSource'];
export type DocumentStatus = components['schemas']['DocumentStatus'];
export type DocumentWarning = components['schemas']['DocumentWarning'];
export type DoneFrame = components['schemas']['DoneFrame'];
export type Embeddings = components['schemas']['Embeddings'];
export type EmbeddingsRequest = components['schemas']['EmbeddingsRequest'];
export type Error = components['schemas']['Error'];
export type ErrorDetail = components['schemas']['ErrorDetail'];
export type ErrorFrame = components['schemas']['ErrorFrame'];
export type FieldCondition = components['schemas']['FieldCondition'];
export type FileBatch = components['schemas']['FileBatch'];
export type FileCitation = components['schemas']['FileCitation'];
export type FileList = components['schemas']['FileList'];
export type FileObject = components['schemas']['FileObject'];
export type Filter = components['schemas']['Filter'];
export type FilterLevel2 = components['schemas']['FilterLevel2'];
export type FilterLevel3 = components['schemas']['FilterLevel3'];
export type FilterLevel4 = components['schemas']['FilterLevel4'];
export type Health = components['schemas']['Health'];
export type Hit = components['schemas']['Hit'];
export type InputItemList = components['schemas']['InputItemList'];
export type LineRefused = components['schemas']['LineRefused'];
export type LineResult = components['schemas']['LineResult'];
export type LineStored = components['schemas']['LineStored'];
export type LogEvent = components['schemas']['LogEvent'];
export type McpAnswer = components['schemas']['McpAnswer'];
export type McpMessage = components['schemas']['McpMessage'];
export type McpTestRequest = components['schemas']['McpTestRequest'];
export type McpTestResult = components['schemas']['McpTestResult'];
export type Metadata = components['schemas']['Metadata'];
export type Mistake = components['schemas']['Mistake'];
export type Model = components['schemas']['Model'];
export type ModelList = components['schemas']['ModelList'];
export type ModelTest = components['schemas']['ModelTest'];
export type ModelTestRequest = components['schemas']['ModelTestRequest'];
export type NewApiKey = components['schemas']['NewApiKey'];
export type NewDocument = components['schemas']['NewDocument'];
export type NewDocumentFile = components['schemas']['NewDocumentFile'];
export type NewDocumentItem = components['schemas']['NewDocumentItem'];
export type NewDocuments = components['schemas']['NewDocuments'];
export type NewFile = components['schemas']['NewFile'];
export type NewFileBatch = components['schemas']['NewFileBatch'];
export type NewSite = components['schemas']['NewSite'];
export type NewVectorStore = components['schemas']['NewVectorStore'];
export type NewVectorStoreFile = components['schemas']['NewVectorStoreFile'];
export type ProviderModels = components['schemas']['ProviderModels'];
export type QueryRequest = components['schemas']['QueryRequest'];
export type QueryResponse = components['schemas']['QueryResponse'];
export type Readiness = components['schemas']['Readiness'];
export type Removed = components['schemas']['Removed'];
export type RequestEvent = components['schemas']['RequestEvent'];
export type Response = components['schemas']['Response'];
export type ResponseDeleted = components['schemas']['ResponseDeleted'];
export type ResponseEvent = components['schemas']['ResponseEvent'];
export type ResponseInputItem = components['schemas']['ResponseInputItem'];
export type ResponseOutputItem = components['schemas']['ResponseOutputItem'];
export type ResponseRequest = components['schemas']['ResponseRequest'];
export type Restarting = components['schemas']['Restarting'];
export type Resume = components['schemas']['Resume'];
export type RunEvent = components['schemas']['RunEvent'];
export type SampleEvent = components['schemas']['SampleEvent'];
export type Sandbox = components['schemas']['Sandbox'];
export type SandboxProbe = components['schemas']['SandboxProbe'];
export type SandboxReport = components['schemas']['SandboxReport'];
export type ServerState = components['schemas']['ServerState'];
export type Setting = components['schemas']['Setting'];
export type Settings = components['schemas']['Settings'];
export type SettingsPatch = components['schemas']['SettingsPatch'];
export type SettingsSaved = components['schemas']['SettingsSaved'];
export type SiteLine = components['schemas']['SiteLine'];
export type SkillList = components['schemas']['SkillList'];
export type SkillReload = components['schemas']['SkillReload'];
export type TextDeltaFrame = components['schemas']['TextDeltaFrame'];
export type Tool = components['schemas']['Tool'];
export type ToolCallFrame = components['schemas']['ToolCallFrame'];
export type ToolList = components['schemas']['ToolList'];
export type ToolResultFrame = components['schemas']['ToolResultFrame'];
export type UrlCitation = components['schemas']['UrlCitation'];
export type Usage = components['schemas']['Usage'];
export type VectorStore = components['schemas']['VectorStore'];
export type VectorStoreFile = components['schemas']['VectorStoreFile'];
export type VectorStoreFileList = components['schemas']['VectorStoreFileList'];
export type VectorStoreList = components['schemas']['VectorStoreList'];
export type VectorStoreSearch = components['schemas']['VectorStoreSearch'];
export type VectorStoreSearchResults = components['schemas']['VectorStoreSearchResults'];
export type $defs = Record<string, never>;
export interface operations {
    getAgentFile: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The configuration. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentFile"];
                };
            };
        };
    };
    saveAgentFile: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AgentSave"];
            };
        };
        responses: {
            /** @description It is on disk. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentSaved"];
                };
            };
        };
    };
    checkAgentFile: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AgentText"];
            };
        };
        responses: {
            /** @description What was found. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentCheck"];
                };
            };
        };
    };
    tryMcpConnection: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                connection: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AgentText"];
            };
        };
        responses: {
            /** @description What was found. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["McpTestResult"];
                };
            };
        };
    };
    trySandbox: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AgentText"];
            };
        };
        responses: {
            /** @description What was found. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SandboxReport"];
                };
            };
        };
    };
    trySkills: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AgentText"];
            };
        };
        responses: {
            /** @description Every skill and its state. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SkillList"];
                };
            };
        };
    };
    listAgentVersions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Latest first. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentVersions"];
                };
            };
        };
    };
    getAgentVersion: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description SHA-256 of the text, in hexadecimal digits. */
                digest: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description As it was. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentVersion"];
                };
            };
        };
    };
    restoreAgentVersion: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description SHA-256 of the text, in hexadecimal digits. */
                digest: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AgentRestore"];
            };
        };
        responses: {
            /** @description It is on disk. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentSaved"];
                };
            };
        };
    };
    listDeploymentTargets: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The targets. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeploymentTargets"];
                };
            };
        };
    };
    makeDeployment: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DeploymentRequest"];
            };
        };
        responses: {
            /** @description The files, or the refusals. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Deployment"];
                };
            };
        };
    };
    followEvents: {
        parameters: {
            query?: {
                /** @description The `id` of the last event that you have. */
                after?: number;
                /** @description False ends the stream after what is kept. */
                follow?: "true" | "false";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The events. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": components["schemas"]["ActivityFrame"];
                };
            };
        };
    };
    listApiKeys: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The oldest first. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKeyList"];
                };
            };
        };
    };
    createApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewApiKey"];
            };
        };
        responses: {
            /** @description The key. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKeyCreated"];
                };
            };
        };
    };
    revokeApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Revoked. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    launchServer: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It begins. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Restarting"];
                };
            };
        };
    };
    listProviderModels: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ModelTestRequest"];
            };
        };
        responses: {
            /** @description Their names. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProviderModels"];
                };
            };
        };
    };
    testModel: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ModelTestRequest"];
            };
        };
        responses: {
            /** @description What was found. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelTest"];
                };
            };
        };
    };
    restartServer: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It begins. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Restarting"];
                };
            };
        };
    };
    getServerState: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description As it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ServerState"];
                };
            };
        };
    };
    getSettings: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The settings. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Settings"];
                };
            };
        };
    };
    saveSettings: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SettingsPatch"];
            };
        };
        responses: {
            /** @description It is on disk. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SettingsSaved"];
                };
            };
        };
    };
    stopServer: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It begins. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Restarting"];
                };
            };
        };
    };
    getAgent: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The agent. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Agent"];
                };
            };
        };
    };
    getCapabilities: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The capabilities. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Capabilities"];
                };
            };
        };
    };
    agentChat: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChatRequest"];
            };
        };
        responses: {
            /** @description The answer as it is generated. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": components["schemas"]["ChatFrame"];
                };
            };
        };
    };
    testMcpConnection: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                connection: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["McpTestRequest"];
            };
        };
        responses: {
            /** @description What was found. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["McpTestResult"];
                };
            };
        };
    };
    verifySandbox: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What was found. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SandboxReport"];
                };
            };
        };
    };
    reloadSkills: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SkillReload"];
            };
        };
        responses: {
            /** @description Every skill and its state. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SkillList"];
                };
            };
        };
    };
    listTools: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The tools and their state. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ToolList"];
                };
            };
        };
    };
    getArtifact: {
        parameters: {
            query?: {
                /** @description In place of a key. */
                signature?: string;
                until?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The file, in its own media type. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "*/*": string;
                };
            };
        };
    };
    chat: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChatRequest"];
            };
        };
        responses: {
            /** @description The answer as it is generated. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": components["schemas"]["ChatFrame"];
                };
            };
        };
    };
    listDocuments: {
        parameters: {
            query?: {
                /** @description Only documents of this collection: those whose metadata has its name in the field `collection`. `default` has those without; by itself all are taken. */
                collection?: string;
                /** @description `nextCursor` of the page before. */
                cursor?: string;
                /** @description Only documents whose metadata it takes: a `Filter` as in `/query`, written as JSON. */
                filter?: string;
                /** @description How many to answer at most. */
                limit?: number;
                sort?: components["schemas"]["DocumentSort"];
                status?: components["schemas"]["DocumentStatus"];
                /** @description Stands, whatever its case, in the title, or in what goes for it: the file’s name, or the id. */
                title?: string;
                /** @description Also tell how many documents there are on all pages. */
                total?: "true" | "false";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DocumentList"];
                };
            };
        };
    };
    createDocument: {
        parameters: {
            query?: {
                /** @description What to wait for: that words find the document (`ready`), or that meaning does as well. */
                for?: "ready" | "meaning";
                /** @description Seconds, at most 60, to hold the answer back until the document is `ready` or `failed`. */
                wait?: number;
            };
            header?: {
                /** @description Makes a retry safe: a repeated request with the same key answers the document that the first one made, for as long as it exists. With another document it answers 409. */
                "idempotency-key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewDocument"];
                "multipart/form-data": components["schemas"]["NewDocumentFile"];
            };
        };
        responses: {
            /** @description Ingestion has ended: the document is ready, or has failed. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DocumentCreated"];
                };
            };
            /** @description The document is stored and waits for ingestion, or is in it. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DocumentCreated"];
                };
            };
        };
    };
    deleteDocuments: {
        parameters: {
            query?: {
                /** @description Only documents of this collection: those whose metadata has its name in the field `collection`. `default` has those without; by itself all are taken. */
                collection?: string;
                /** @description How many documents are to go, as `dryRun=true` has told; needed to delete any. */
                confirm?: number;
                /** @description Only count what would be deleted. */
                dryRun?: "true" | "false";
                /** @description Only documents whose metadata it takes: a `Filter` as in `/query`, written as JSON. */
                filter?: string;
                status?: components["schemas"]["DocumentStatus"];
                /** @description Stands, whatever its case, in the title, or in what goes for it: the file’s name, or the id. */
                title?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What was deleted. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Deletion"];
                };
            };
        };
    };
    getDocument: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Identifier of the document.
                 * @example doc_0198c5f28f2e7c1b
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The document. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Document"];
                };
            };
        };
    };
    putDocument: {
        parameters: {
            query?: {
                /** @description What to wait for: that words find the document (`ready`), or that meaning does as well. */
                for?: "ready" | "meaning";
                /** @description Seconds, at most 60, to hold the answer back until the document is `ready` or `failed`. */
                wait?: number;
            };
            header?: never;
            path: {
                /**
                 * @description Identifier of the document, chosen by the caller.
                 * @example hours
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewDocument"];
                "multipart/form-data": components["schemas"]["NewDocumentFile"];
            };
        };
        responses: {
            /** @description Ingestion has ended: the document is ready, or has failed. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DocumentCreated"];
                };
            };
            /** @description The document is stored and waits for ingestion, or is in it. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DocumentCreated"];
                };
            };
        };
    };
    deleteDocument: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Identifier of the document.
                 * @example doc_0198c5f28f2e7c1b
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    patchDocument: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Identifier of the document.
                 * @example doc_0198c5f28f2e7c1b
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DocumentPatch"];
            };
        };
        responses: {
            /** @description The document as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Document"];
                };
            };
        };
    };
    listChunks: {
        parameters: {
            query?: {
                /** @description `nextCursor` of the page before. */
                cursor?: string;
                /** @description How many to answer at most. */
                limit?: number;
            };
            header?: never;
            path: {
                /**
                 * @description Identifier of the document.
                 * @example doc_0198c5f28f2e7c1b
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChunkList"];
                };
            };
        };
    };
    getDocumentFile: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Identifier of the document.
                 * @example doc_0198c5f28f2e7c1b
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The file, byte for byte. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "*/*": string;
                };
            };
        };
    };
    refreshDocument: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Identifier of the document.
                 * @example doc_0198c5f28f2e7c1b
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The document. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Document"];
                };
            };
        };
    };
    retryDocument: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Identifier of the document.
                 * @example doc_0198c5f28f2e7c1b
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The document waits for ingestion again. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DocumentCreated"];
                };
            };
        };
    };
    getDocumentText: {
        parameters: {
            query?: {
                /** @description Where to end (exclusive); by itself the end of the text. */
                end?: number;
                /** @description Where to begin, in UTF-16 code units, as in hits; 0 by itself. */
                start?: number;
            };
            header?: {
                /** @description `bytes=0-999`: these bytes alone, of what `start` and `end` leave. */
                range?: string;
            };
            path: {
                /**
                 * @description Identifier of the document.
                 * @example doc_0198c5f28f2e7c1b
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The text. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            /** @description The bytes that `Range` asks for. */
            206: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
        };
    };
    createDocuments: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewDocuments"];
                "application/x-ndjson": components["schemas"]["NewDocumentItem"];
            };
        };
        responses: {
            /** @description To a stream: what became of each line. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": components["schemas"]["LineResult"];
                };
            };
            /** @description To a list: what became of each; at least one is stored. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DocumentBatchResult"];
                };
            };
        };
    };
    addSite: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewSite"];
            };
        };
        responses: {
            /** @description What became of each page. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": components["schemas"]["SiteLine"];
                };
            };
        };
    };
    health: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It does. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
        };
    };
    mcp: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["McpMessage"];
            };
        };
        responses: {
            /** @description The answer, or a stream that ends with it. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["McpAnswer"];
                    "text/event-stream": components["schemas"]["McpAnswer"];
                };
            };
            /** @description Taken note of. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    metrics: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The metrics in the text exposition format. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
        };
    };
    query: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["QueryRequest"];
            };
        };
        responses: {
            /** @description The chunks, best first. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["QueryResponse"];
                };
            };
        };
    };
    readiness: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Every part works. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Readiness"];
                };
            };
        };
    };
    createChatCompletion: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CompletionRequest"];
            };
        };
        responses: {
            /** @description One completion, or its chunks as they are generated. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Completion"];
                    "text/event-stream": components["schemas"]["CompletionChunk"];
                };
            };
        };
    };
    createEmbeddings: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EmbeddingsRequest"];
            };
        };
        responses: {
            /** @description In the order of the input. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Embeddings"];
                };
            };
        };
    };
    listFiles: {
        parameters: {
            query?: {
                /**
                 * @description The last file of the page before.
                 * @example doc_0198c5f28f2e7c1b
                 */
                after?: string;
                /** @description A page has 1,000 files at most. */
                limit?: number;
                /** @description By age. */
                order?: "asc" | "desc";
                /** @description All files are for `assistants`. */
                purpose?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of files. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FileList"];
                };
            };
        };
    };
    createFile: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "multipart/form-data": components["schemas"]["NewFile"];
            };
        };
        responses: {
            /** @description The file. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FileObject"];
                };
            };
        };
    };
    getFile: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Identifier of the document.
                 * @example doc_0198c5f28f2e7c1b
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The file. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FileObject"];
                };
            };
        };
    };
    deleteFile: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Identifier of the document.
                 * @example doc_0198c5f28f2e7c1b
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Removed"];
                };
            };
        };
    };
    listModels: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The agent, and the agent over each collection. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelList"];
                };
            };
        };
    };
    getModel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                model: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The agent. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Model"];
                };
            };
        };
    };
    createResponse: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ResponseRequest"];
            };
        };
        responses: {
            /** @description The response, or with `stream` its events as they happen. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Response"];
                    "text/event-stream": components["schemas"]["ResponseEvent"];
                };
            };
        };
    };
    getResponse: {
        parameters: {
            query?: {
                stream?: "false";
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Response"];
                };
            };
        };
    };
    deleteResponse: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ResponseDeleted"];
                };
            };
        };
    };
    listInputItems: {
        parameters: {
            query?: {
                /** @description The last item of the page before. */
                after?: string;
                limit?: number;
                /** @description Of the conversation: newest first. */
                order?: "asc" | "desc";
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of items. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InputItemList"];
                };
            };
        };
    };
    listVectorStores: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The corpus first. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["VectorStoreList"];
                };
            };
        };
    };
    createVectorStore: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewVectorStore"];
            };
        };
        responses: {
            /** @description The store. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["VectorStore"];
                };
            };
        };
    };
    getVectorStore: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description `corpus` has every document; `vs_<collection>` those of a collection. */
                store: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The store. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["VectorStore"];
                };
            };
        };
    };
    createFileBatch: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description `corpus` has every document; `vs_<collection>` those of a collection. */
                store: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewFileBatch"];
            };
        };
        responses: {
            /** @description The batch. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FileBatch"];
                };
            };
        };
    };
    getFileBatch: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description As the batch was answered. */
                batch: string;
                /** @description `corpus` has every document; `vs_<collection>` those of a collection. */
                store: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The batch. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FileBatch"];
                };
            };
        };
    };
    cancelFileBatch: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description As the batch was answered. */
                batch: string;
                /** @description `corpus` has every document; `vs_<collection>` those of a collection. */
                store: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The batch. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FileBatch"];
                };
            };
        };
    };
    listFileBatch: {
        parameters: {
            query?: {
                /**
                 * @description The last file of the page before.
                 * @example doc_0198c5f28f2e7c1b
                 */
                after?: string;
                filter?: "in_progress" | "completed" | "failed" | "cancelled";
                limit?: number;
                /** @description By age. */
                order?: "asc" | "desc";
            };
            header?: never;
            path: {
                /** @description As the batch was answered. */
                batch: string;
                /** @description `corpus` has every document; `vs_<collection>` those of a collection. */
                store: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of files. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["VectorStoreFileList"];
                };
            };
        };
    };
    listAttachedFiles: {
        parameters: {
            query?: {
                /**
                 * @description The last file of the page before.
                 * @example doc_0198c5f28f2e7c1b
                 */
                after?: string;
                filter?: "in_progress" | "completed" | "failed" | "cancelled";
                limit?: number;
                /** @description By age. */
                order?: "asc" | "desc";
            };
            header?: never;
            path: {
                /** @description `corpus` has every document; `vs_<collection>` those of a collection. */
                store: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of files. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["VectorStoreFileList"];
                };
            };
        };
    };
    attachFile: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description `corpus` has every document; `vs_<collection>` those of a collection. */
                store: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewVectorStoreFile"];
            };
        };
        responses: {
            /** @description The file in its store. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["VectorStoreFile"];
                };
            };
        };
    };
    getAttachedFile: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Identifier of the document.
                 * @example doc_0198c5f28f2e7c1b
                 */
                id: string;
                /** @description `corpus` has every document; `vs_<collection>` those of a collection. */
                store: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The file in its store. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["VectorStoreFile"];
                };
            };
        };
    };
    detachFile: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Identifier of the document.
                 * @example doc_0198c5f28f2e7c1b
                 */
                id: string;
                /** @description `corpus` has every document; `vs_<collection>` those of a collection. */
                store: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Taken out. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Removed"];
                };
            };
        };
    };
    searchVectorStore: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description `corpus` has every document; `vs_<collection>` those of a collection. */
                store: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["VectorStoreSearch"];
            };
        };
        responses: {
            /** @description Best first. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["VectorStoreSearchResults"];
                };
            };
        };
    };
}
