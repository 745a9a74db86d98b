-- Run with search_path = agent_server. A step that has been released is never changed.
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
CREATE INDEX metadata_numbers ON metadata (name, kind, number, document) WHERE string IS NULL;
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

-- `due_at` is `run_at` while the job waits, and the end of the lease while it is claimed: what is due is to be claimed.
CREATE TABLE jobs (
  document bigint PRIMARY KEY REFERENCES documents ON DELETE CASCADE,
  revision integer NOT NULL,
  run_at bigint NOT NULL,
  due_at bigint NOT NULL,
  claim bigint,
  owner text
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
CREATE INDEX jobs_due ON jobs (due_at, document);
CREATE INDEX jobs_claimed ON jobs (owner) WHERE claim IS NOT NULL;
CREATE SEQUENCE claims;

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
INSERT INTO meta VALUES ('next_chunk_key', 1), ('last_check', 0), ('vectors_generation', 1);

-- All keys below `next_key` were reserved by the end of that minute since the epoch: tells how old a key is.
CREATE TABLE key_marks (
  minute bigint PRIMARY KEY,
  next_key bigint NOT NULL
);

-- Polled, and exact without a scan. Each connection counts in a row of its own, so that commits do not wait for one
-- another; a row alone may fall below nothing, their sum never.
CREATE TABLE counts (
  slot integer PRIMARY KEY,
  pending bigint NOT NULL DEFAULT 0,
  processing bigint NOT NULL DEFAULT 0,
  ready bigint NOT NULL DEFAULT 0,
  failed bigint NOT NULL DEFAULT 0,
  chunks bigint NOT NULL DEFAULT 0,
  jobs bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 20, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
INSERT INTO counts (slot) SELECT generate_series(0, 63);
