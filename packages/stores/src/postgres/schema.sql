-- Run with search_path = agent_server. Once released, it is never changed: see `migrate.ts`.
--
-- Rows refer to a document by its number, which is never used again and orders the list, as clients may choose ids.
-- Texts, files and chunks carry a revision, so that an old one can serve while its replacement is made; what else the
-- replacement changes waits in `replacements`. Times are milliseconds since the epoch, by the database's clock.

CREATE TABLE documents (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text COLLATE "C" NOT NULL UNIQUE,
  title text,
  url text,
  metadata text,
  file text,
  status text NOT NULL,
  error_code text,
  error_message text,
  attempts integer NOT NULL DEFAULT 0,
  revision integer NOT NULL DEFAULT 1,
  served_revision integer,
  chunk_count integer NOT NULL DEFAULT 0,
  characters integer NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL
);
CREATE INDEX documents_of_status ON documents (status, number);
-- Tables are few among documents, and asked for by name; `lookup.ts` has the same condition.
CREATE INDEX documents_tables ON documents (number)
WHERE lower("right"(coalesce(file::jsonb ->> 'name', title), 4)) IN ('.csv', '.tsv', 'xlsx', 'quet', 'sonl', 'json');

CREATE TABLE contents (
  document bigint NOT NULL REFERENCES documents ON DELETE CASCADE,
  revision integer NOT NULL,
  text text NOT NULL,
  PRIMARY KEY (document, revision)
);

CREATE TABLE replacements (
  document bigint PRIMARY KEY REFERENCES documents ON DELETE CASCADE,
  title text,
  url text,
  metadata text,
  file text,
  characters integer NOT NULL
);

CREATE TABLE idempotency_keys (
  key text COLLATE "C" PRIMARY KEY,
  digest text NOT NULL,
  document bigint NOT NULL REFERENCES documents ON DELETE CASCADE
);
CREATE INDEX idempotency_keys_of_document ON idempotency_keys (document);

-- One row per value, which filters look up; strings compare by code points.
CREATE TABLE metadata (
  document bigint NOT NULL REFERENCES documents ON DELETE CASCADE,
  name text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  number double precision,
  string text COLLATE "C",
  PRIMARY KEY (document, name)
);
CREATE INDEX metadata_numbers ON metadata (name, kind, number, document) WHERE number IS NOT NULL;
CREATE INDEX metadata_strings ON metadata (name, string, document) WHERE string IS NOT NULL;

-- A file without a document is one that is being sent. In pieces, so that none is ever in memory whole.
CREATE TABLE files (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  document bigint REFERENCES documents ON DELETE CASCADE,
  revision integer,
  touched_at bigint NOT NULL,
  UNIQUE (document, revision)
);
CREATE INDEX files_of_nobody ON files (touched_at) WHERE document IS NULL;

CREATE TABLE file_pieces (
  file bigint NOT NULL REFERENCES files ON DELETE CASCADE,
  ordinal integer NOT NULL,
  bytes bytea NOT NULL,
  PRIMARY KEY (file, ordinal)
);
ALTER TABLE file_pieces ALTER COLUMN bytes SET STORAGE EXTERNAL;

-- `due_at` is `run_at` while the job waits, and the end of the lease while it is claimed: what is due is to be claimed,
-- in order of `turn`, by which the senders (API keys) take turns.
CREATE TABLE jobs (
  document bigint PRIMARY KEY REFERENCES documents ON DELETE CASCADE,
  revision integer NOT NULL,
  run_at bigint NOT NULL,
  due_at bigint NOT NULL,
  claim bigint,
  owner text,
  sender text COLLATE "C" NOT NULL DEFAULT '',
  turn bigint NOT NULL DEFAULT 0
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
CREATE INDEX jobs_due ON jobs (due_at);
CREATE INDEX jobs_turn ON jobs (turn, document);
CREATE INDEX jobs_sender ON jobs (sender, turn);
CREATE INDEX jobs_claimed ON jobs (turn) WHERE claim IS NOT NULL;

CREATE TABLE chunks (
  key bigint PRIMARY KEY,
  document bigint NOT NULL REFERENCES documents ON DELETE CASCADE,
  revision integer NOT NULL,
  ordinal integer NOT NULL,
  start integer NOT NULL,
  "end" integer NOT NULL,
  heading text NOT NULL,
  text text NOT NULL,
  page integer,
  page_end integer
);
CREATE UNIQUE INDEX chunks_of_document ON chunks (document, revision, ordinal);

-- 16-bit floats, little-endian, which do not compress. The next vectors are made beside those in use.
CREATE TABLE vectors (
  key bigint PRIMARY KEY REFERENCES chunks ON DELETE CASCADE,
  vector bytea NOT NULL
);
ALTER TABLE vectors ALTER COLUMN vector SET STORAGE EXTERNAL;

CREATE TABLE next_vectors (
  key bigint PRIMARY KEY REFERENCES chunks ON DELETE CASCADE,
  vector bytea NOT NULL
);
ALTER TABLE next_vectors ALTER COLUMN vector SET STORAGE EXTERNAL;

CREATE TABLE embeddings (
  vectors text PRIMARY KEY,
  model text NOT NULL,
  dimension integer NOT NULL
);

CREATE TABLE meta (
  name text PRIMARY KEY,
  value bigint NOT NULL
);
-- The identity distinguishes this database from every other: an index of another one is of no use.
INSERT INTO meta VALUES ('next_chunk_key', 1), ('last_check', 0), ('vectors_generation', 1),
  ('identity', floor(random() * 9007199254740991)::bigint);

-- All keys below `next_key` were reserved by the end of that minute since the epoch: tells how old a key is.
CREATE TABLE key_marks (
  minute bigint PRIMARY KEY,
  next_key bigint NOT NULL
);

-- Polled, and exact without a scan. Each connection counts in a row of its own, so that commits do not wait for one
-- another; a row alone may fall below nothing, their sum never. `changes` grows with every write that may change what somebody sees.
CREATE TABLE counts (
  slot integer PRIMARY KEY,
  pending bigint NOT NULL DEFAULT 0,
  processing bigint NOT NULL DEFAULT 0,
  ready bigint NOT NULL DEFAULT 0,
  failed bigint NOT NULL DEFAULT 0,
  chunks bigint NOT NULL DEFAULT 0,
  jobs bigint NOT NULL DEFAULT 0,
  changes bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 20, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
INSERT INTO counts (slot) SELECT generate_series(0, 63);

-- Events of documents whose ingestion has ended, to be sent.
CREATE TABLE announcements (
  document bigint PRIMARY KEY REFERENCES documents ON DELETE CASCADE,
  id text COLLATE "C" NOT NULL UNIQUE,
  revision integer NOT NULL,
  status text NOT NULL,
  error_code text,
  error_message text,
  ended_at bigint NOT NULL,
  attempts integer NOT NULL DEFAULT 0,
  due_at bigint NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
CREATE INDEX announcements_due ON announcements (due_at);

-- Which servers want ends to be announced, each until a time that it puts off: one that wants none speaks for itself alone.

CREATE TABLE announcers (
  owner text COLLATE "C" PRIMARY KEY,
  until bigint NOT NULL
);

-- Files that tools made, and responses of the agent, each kind within bounds of its own. The number orders them by age:
-- it is given out under the lock that makes the bounds exact.
CREATE TABLE artifacts (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text COLLATE "C" NOT NULL UNIQUE,
  kind text COLLATE "C" NOT NULL,
  owner text COLLATE "C",
  name text NOT NULL,
  media_type text NOT NULL,
  size integer NOT NULL,
  created_at bigint NOT NULL,
  bytes bytea NOT NULL
);
ALTER TABLE artifacts ALTER COLUMN bytes SET STORAGE EXTERNAL;

-- The owner is the id of a key; empty for the master key. Items form a tree; `written_at` is set while an answer is in
-- progress. What is searched is in lower case.
CREATE TABLE conversations (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text COLLATE "C" NOT NULL UNIQUE,
  owner text COLLATE "C" NOT NULL,
  title text,
  searched_title text,
  metadata text NOT NULL,
  last_item text COLLATE "C",
  items integer NOT NULL DEFAULT 0,
  size bigint NOT NULL DEFAULT 0,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL
);
CREATE INDEX conversations_of_owner ON conversations (owner, updated_at, number);
CREATE INDEX conversations_by_age ON conversations (updated_at);

CREATE TABLE conversation_items (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  conversation bigint NOT NULL REFERENCES conversations ON DELETE CASCADE,
  id text COLLATE "C" NOT NULL,
  parent text COLLATE "C",
  searched_text text,
  json text NOT NULL,
  size integer NOT NULL,
  written_at bigint,
  UNIQUE (conversation, id)
);

-- API keys, without their secrets. Those that a key created go with it.
CREATE TABLE api_keys (
  id text COLLATE "C" PRIMARY KEY,
  name text NOT NULL,
  scopes text NOT NULL,
  collections text,
  requests_per_minute integer,
  tokens_per_day integer,
  expires_at bigint,
  created_at bigint NOT NULL,
  created_by text COLLATE "C" REFERENCES api_keys ON DELETE CASCADE,
  digest text NOT NULL
);

CREATE TABLE api_key_use (
  key text COLLATE "C" PRIMARY KEY REFERENCES api_keys ON DELETE CASCADE,
  last_used_at bigint NOT NULL
);

-- What was accepted of MCP servers, as digests of their tools' definitions, and of sources of skills.
CREATE TABLE mcp_connections (
  name text COLLATE "C" PRIMARY KEY,
  url text NOT NULL
);

CREATE TABLE mcp_tools (
  connection text COLLATE "C" NOT NULL REFERENCES mcp_connections ON DELETE CASCADE,
  name text COLLATE "C" NOT NULL,
  digest text NOT NULL,
  PRIMARY KEY (connection, name)
);

-- Under a digest of the source, as sources may be longer than a key of an index.
CREATE TABLE skill_copies (
  source text COLLATE "C" PRIMARY KEY,
  digest text NOT NULL,
  bytes bytea NOT NULL
);
ALTER TABLE skill_copies ALTER COLUMN bytes SET STORAGE EXTERNAL;

-- A corpus that is copied here in steps, each of which survives what ends the copying. While there is a row in `moves`,
-- nobody else adds documents, and no server starts on the database.

CREATE TABLE moves (
  documents bigint NOT NULL,
  chunks bigint NOT NULL,
  digest text NOT NULL
);

-- Jobs of documents that were copied, until all are there: a server that runs would begin with them.
CREATE TABLE moved_jobs (
  document bigint PRIMARY KEY REFERENCES documents ON DELETE CASCADE,
  revision integer NOT NULL,
  run_at bigint NOT NULL
);

-- Where documents were fetched from, and when they are to be fetched again.

CREATE TABLE sources (
  document bigint PRIMARY KEY REFERENCES documents (number) ON DELETE CASCADE,
  source text NOT NULL,
  fetch_at bigint
);
CREATE INDEX sources_due ON sources (fetch_at) WHERE fetch_at IS NOT NULL;

-- By the database's clock, which all servers share.
CREATE FUNCTION now_ms() RETURNS bigint LANGUAGE sql VOLATILE SET search_path = agent_server, pg_temp
  RETURN floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint;

-- In PL/pgSQL, as whoever adds a document must ask once it has the lock of the table, which a copy takes first.
CREATE FUNCTION refuse_while_moving() RETURNS trigger LANGUAGE plpgsql SET search_path = agent_server, pg_temp AS $$
BEGIN
  IF current_setting('agent_server.moving', true) IS DISTINCT FROM 'on' AND EXISTS (SELECT 1 FROM moves) THEN
    RAISE EXCEPTION 'a corpus is being moved here' USING ERRCODE = 'AS009';
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER documents_moving BEFORE INSERT ON documents
FOR EACH STATEMENT EXECUTE FUNCTION refuse_while_moving();
