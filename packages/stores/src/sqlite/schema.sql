-- Rows refer to a document by its number, which is never used again and orders the list, as clients may choose ids.
-- Texts, files and chunks carry a revision, so that an old one can serve while its replacement is made; what else the
-- replacement changes waits in `replacements`. The tables are those of PostgreSQL. Once released, this file is never changed: see `migrate.ts`.

CREATE TABLE documents (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  title TEXT,
  url TEXT,
  metadata TEXT,
  file TEXT,
  status TEXT NOT NULL,
  error_code TEXT,
  error_message TEXT,
  attempts INTEGER NOT NULL DEFAULT 0,
  revision INTEGER NOT NULL DEFAULT 1,
  served_revision INTEGER,
  chunk_count INTEGER NOT NULL DEFAULT 0,
  characters INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX documents_of_status ON documents (status, number);
-- Tables are few among documents, and asked for by name; `isTable` in `lookup.ts` is the same condition.
CREATE INDEX documents_tables ON documents (number)
WHERE lower(substr(coalesce(json_extract(file, '$.name'), title), -4))
  IN ('.csv', '.tsv', 'xlsx', 'quet', 'sonl', 'json');

CREATE TABLE contents (
  document INTEGER NOT NULL REFERENCES documents (number) ON DELETE CASCADE,
  revision INTEGER NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (document, revision)
) STRICT;

-- `due_at` is `run_at` while the job waits, and the end of the lease while it is claimed.
CREATE TABLE jobs (
  document INTEGER PRIMARY KEY REFERENCES documents (number) ON DELETE CASCADE,
  revision INTEGER NOT NULL,
  run_at INTEGER NOT NULL,
  due_at INTEGER NOT NULL,
  claim INTEGER,
  owner TEXT,
  sender TEXT NOT NULL DEFAULT '',
  turn INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX jobs_due ON jobs (due_at);
CREATE INDEX jobs_turn ON jobs (turn, document);
CREATE INDEX jobs_sender ON jobs (sender, turn);
CREATE INDEX jobs_claimed ON jobs (turn) WHERE claim IS NOT NULL;

CREATE TABLE chunks (
  key INTEGER PRIMARY KEY,
  document INTEGER NOT NULL REFERENCES documents (number) ON DELETE CASCADE,
  revision INTEGER NOT NULL,
  ordinal INTEGER NOT NULL,
  start INTEGER NOT NULL,
  end INTEGER NOT NULL,
  heading TEXT NOT NULL,
  text TEXT NOT NULL,
  page INTEGER,
  page_end INTEGER
) STRICT;
CREATE UNIQUE INDEX chunks_of_document ON chunks (document, revision, ordinal);

CREATE TABLE meta (
  name TEXT PRIMARY KEY,
  value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
-- The identity distinguishes this database from every other: an index of another one is of no use.
INSERT INTO meta VALUES ('next_chunk_key', 1), ('last_check', 0), ('vectors_generation', 1),
  ('identity', abs(random() >> 11));

-- All keys below `next_key` were reserved by the end of that minute since the epoch: tells how old a key is.
CREATE TABLE key_marks (
  minute INTEGER PRIMARY KEY,
  next_key INTEGER NOT NULL
) STRICT;

-- Polled, and must be exact without a scan. `changes` grows with every write that may change what somebody sees.
CREATE TABLE counts (
  slot INTEGER PRIMARY KEY,
  pending INTEGER NOT NULL DEFAULT 0,
  processing INTEGER NOT NULL DEFAULT 0,
  ready INTEGER NOT NULL DEFAULT 0,
  failed INTEGER NOT NULL DEFAULT 0,
  chunks INTEGER NOT NULL DEFAULT 0,
  jobs INTEGER NOT NULL DEFAULT 0,
  changes INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO counts (slot) VALUES (0);

CREATE TABLE replacements (
  document INTEGER PRIMARY KEY REFERENCES documents (number) ON DELETE CASCADE,
  title TEXT,
  url TEXT,
  metadata TEXT,
  file TEXT,
  characters INTEGER NOT NULL
) STRICT;

CREATE TABLE idempotency_keys (
  key TEXT PRIMARY KEY,
  digest TEXT NOT NULL,
  document INTEGER NOT NULL REFERENCES documents (number) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_keys_of_document ON idempotency_keys (document);

-- One row per value, which filters look up; strings compare by code points.
CREATE TABLE metadata (
  document INTEGER NOT NULL REFERENCES documents (number) ON DELETE CASCADE,
  name TEXT NOT NULL,
  kind TEXT NOT NULL,
  number REAL,
  string TEXT,
  PRIMARY KEY (document, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX metadata_numbers ON metadata (name, kind, number, document) WHERE number IS NOT NULL;
CREATE INDEX metadata_strings ON metadata (name, string, document) WHERE string IS NOT NULL;

-- The index on the key lists the keys without reading the vectors. The next vectors are made beside those in use.
CREATE TABLE vectors (
  key INTEGER PRIMARY KEY REFERENCES chunks (key) ON DELETE CASCADE,
  vector BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX vectors_key ON vectors (key);

CREATE TABLE next_vectors (
  key INTEGER PRIMARY KEY REFERENCES chunks (key) ON DELETE CASCADE,
  vector BLOB NOT NULL
) STRICT;

CREATE TABLE embeddings (
  vectors TEXT PRIMARY KEY,
  model TEXT NOT NULL,
  dimension INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- A file without a document is one that is being sent. In pieces, so that none is ever in memory whole.
CREATE TABLE files (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  document INTEGER REFERENCES documents (number) ON DELETE CASCADE,
  revision INTEGER,
  touched_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX files_of_document ON files (document, revision);

CREATE TABLE file_pieces (
  file INTEGER NOT NULL REFERENCES files (number) ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,
  bytes BLOB NOT NULL,
  PRIMARY KEY (file, ordinal)
) STRICT;

-- Events of documents whose ingestion has ended, to be sent.
CREATE TABLE announcements (
  document INTEGER PRIMARY KEY REFERENCES documents (number) ON DELETE CASCADE,
  id TEXT NOT NULL UNIQUE,
  revision INTEGER NOT NULL,
  status TEXT NOT NULL,
  error_code TEXT,
  error_message TEXT,
  ended_at INTEGER NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  due_at INTEGER NOT NULL
) STRICT;
CREATE INDEX announcements_due ON announcements (due_at);

-- Which servers want events, each until a time that it puts off.
CREATE TABLE announcers (
  owner TEXT PRIMARY KEY,
  until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Where documents were fetched from, and when they are to be fetched again.
CREATE TABLE sources (
  document INTEGER PRIMARY KEY REFERENCES documents (number) ON DELETE CASCADE,
  source TEXT NOT NULL,
  fetch_at INTEGER
) STRICT;
CREATE INDEX sources_due ON sources (fetch_at) WHERE fetch_at IS NOT NULL;

-- Files that tools made, and responses of the agent, each kind within bounds of its own. The number orders them by age.
CREATE TABLE artifacts (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL,
  owner TEXT,
  name TEXT NOT NULL,
  media_type TEXT NOT NULL,
  size INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  bytes BLOB NOT NULL
) STRICT;

-- The owner is the id of a key; empty for the master key. Items form a tree; `written_at` is set while an answer is in
-- progress. What is searched is in lower case.
CREATE TABLE conversations (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  owner TEXT NOT NULL,
  title TEXT,
  searched_title TEXT,
  metadata TEXT NOT NULL,
  last_item TEXT,
  items INTEGER NOT NULL DEFAULT 0,
  size INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX conversations_of_owner ON conversations (owner, updated_at, number);
CREATE INDEX conversations_by_age ON conversations (updated_at);

CREATE TABLE conversation_items (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  conversation INTEGER NOT NULL REFERENCES conversations (number) ON DELETE CASCADE,
  id TEXT NOT NULL,
  parent TEXT,
  searched_text TEXT,
  json TEXT NOT NULL,
  size INTEGER NOT NULL,
  written_at INTEGER,
  UNIQUE (conversation, id)
) STRICT;

-- API keys, without their secrets. Those that a key created go with it.
CREATE TABLE api_keys (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  scopes TEXT NOT NULL,
  collections TEXT,
  requests_per_minute INTEGER,
  tokens_per_day INTEGER,
  expires_at INTEGER,
  created_at INTEGER NOT NULL,
  created_by TEXT REFERENCES api_keys (id) ON DELETE CASCADE,
  digest TEXT NOT NULL
) STRICT;

CREATE TABLE api_key_use (
  key TEXT PRIMARY KEY REFERENCES api_keys (id) ON DELETE CASCADE,
  last_used_at INTEGER NOT NULL
) STRICT;

-- What was accepted of MCP servers, as digests of their tools' definitions, and of sources of skills.
CREATE TABLE mcp_connections (
  name TEXT PRIMARY KEY,
  url TEXT NOT NULL
) STRICT;

CREATE TABLE mcp_tools (
  connection TEXT NOT NULL REFERENCES mcp_connections (name) ON DELETE CASCADE,
  name TEXT NOT NULL,
  digest TEXT NOT NULL,
  PRIMARY KEY (connection, name)
) STRICT;

-- Under a digest of the source.
CREATE TABLE skill_copies (
  source TEXT PRIMARY KEY,
  digest TEXT NOT NULL,
  bytes BLOB NOT NULL
) STRICT;
